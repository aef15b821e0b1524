"""Models: functions from messages to a reply. Scripted and rehearsed ones here, real ones beside."""
