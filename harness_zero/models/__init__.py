"""Models: functions from messages to a reply. Scripted ones here, real ones beside."""
