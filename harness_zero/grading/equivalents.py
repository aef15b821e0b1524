"""The mutants that earn full marks, and rightly: each change, and why no promise forbids it.

They are named as `make mutants` prints them. A mutant that shows a weak check has no place
here; it gets a promise that catches it.
"""

NEXT = "The sentences after it name an id at fault too: the last one names all ids of both sides."
ONE_IS_ENOUGH = "One id at fault is enough to go by, here or in the last sentence, which names all."
ANY_ORDER = "The order in which a sentence names its ids tells nothing, so it is free."
ANY_SIGN = "What stands between two names or ids in a sentence is free."
BOTH_SIDES = "Twice or out of order: the ids at fault stand on both sides, and one is left."
NOT_READ = "The id is named; what a sentence says of it is not read, or good ones would be refused."
FREE_WORDS = "Why a brake holds is told in words of one's own; that it is told, a promise holds."
LAST_ROUND = "The round in which the model answers is the last, so nobody asks how many there were."
NOTHING_YET = "0 and 0.0 are both nothing spent."
NOT_MADE_OF = "Neither line is made of the other, so either can come first."
AMONG_BRAKES = "Where two brakes hold at once, either may name itself."
CAPITAL = "A capital letter means the same promise."
APART = "No reason is in two of the questions, so either can be asked first."
ANY_PLACE = "Where a word stands in a tuple that is only searched is free."
DEFAULTS = "The usual limits are given, and no promise says how large they are."
NAMES = "Both are counted up from nothing; what they are called is free."
NOTHING = "A sum of money may begin as a whole number."
APPENDED = "Counting, naming and appending read the same reply, in any order."
TWO_LIMITS = "Where two limits are reached at once, either may be told."
COUNTED = "The count is read in the next round, and no earlier."
WORDING = "What is said to the model is free, as long as something is."
LATER = "What a reply cost is read only if another one is asked for."
ANY_KEY = "A key is only compared, so the order and the spelling of what is in it are free."
ONE_OF_ALIKE = "Of two keys or more that are alike, one is enough to be counted."
PATIENCE = "How patient it is, is free within the rounds that the promises name."
HOW_LONG = "How much of the output is handed on is free up to 2,000 characters."
ONLY_READS = "One of the two only reads, and not what the other writes: either can come first."
WHOSE = "By what name a judge stands on the bill is free, as long as it has one."
TWO_BOUNDS = "Where both bounds are reached, either may be told."
MARKS_APART = "Where one mark is set does not depend on the others."
ONE_EACH = "A step has one line of each kind, so the order in which they are read is free."
LATE_NAMES = "Functions look up their names when they are called, so either may be made first."
WHICH_STEP = "Which step diverged is told in words of one's own; that it did, a promise holds."
NO_SHOUT = "Capitals say the same, and so do letters around it."
HOW_OFTEN = (
    "How often it was asked is told for people; that the failure's words stay, a promise holds."
)
WHICH_KEY = "What was wrong with a key is told in words of one's own; that it was, a promise holds."
WHY_STUCK = "Why it is stuck is told in words of one's own, and the label says that it is."
WHY_NOT = "What a denial says behind the word is free, as long as it gives a reason."
NAMED_SAFE = "Whether a name stands among the safe ones is asked, and not where."
AMONG_HOLDERS = "Where two of them hold at once, either may tell."
LAYERS_FIRST = "A layer is made before the loop asks for anything, wherever in here."

EQUIVALENTS: dict[str, dict[str, str]] = {
    "report": {
        'return tool_result(call["id"], f"{type(error).__name__}: {error}", '
        'is_error=«True → "XX"»)': "For whatever is true, tool_result marks the block with True."
    },
    "excerpt": {"if missing <= 0: ⇄ front = limit // 2": NOT_MADE_OF},
    "answer_or_report": {
        "raise LookupError(f\"no tool named {call['name']!r}; "
        "there are {'«,  → XX, XX»'.join(tools)}\")": ANY_SIGN
    },
    "read_file": {
        'if path in files: ⇄ names = ", ".join([*files][:20])': NOT_MADE_OF,
        'names = ", ".join([*files][:20]) ⇄ '
        'more = f", and {len(files) - 20} more" if len(files) > 20 else ""': NOT_MADE_OF,
    },
    "cheap_tea": {'return "«b → B»", 6': CAPITAL},
    "wrong_sums": {'return "«d → D»", 2': CAPITAL},
    "late_results": {'return "«c → C»", 6': CAPITAL},
    "third_turn": {'return "«c → C»", 9': CAPITAL},
    "run_with_limit": {
        "if not tool_uses(reply): ⇄ rounds += 1": LAST_ROUND,
        'messages.append(close_calls(reply, "«max_rounds → XX»"))': FREE_WORDS,
        'messages.append(close_calls(reply, "«max_rounds → XXmax_roundsXX»"))': FREE_WORDS,
        'messages.append(close_calls(reply, "«max_rounds → MAX_ROUNDS»"))': FREE_WORDS,
    },
    "run_with_brakes": {
        "messages, «rounds, spent → spent, rounds», began = [user(prompt)], 0, 0.0, clock()": (
            NOTHING_YET
        ),
        "messages, rounds, spent, began = [user(prompt)], 0«, 0. → .0, »0, clock()": NOTHING_YET,
        'messages.append(said(reply)) ⇄ rounds, spent = rounds + 1, spent + reply["cost_usd"]': (
            "To count and to append do not know of each other, so either can come first."
        ),
        'rounds, spent = rounds + 1, spent + reply["cost_usd"] ⇄ if not tool_uses(reply):': (
            LAST_ROUND
        ),
        'messages.append(close_calls(reply, "«a limit was reached → XX»"))': FREE_WORDS,
        'messages.append(close_calls(reply, "«a limit was reached → XXa limit was reachedXX»"))': (
            FREE_WORDS
        ),
        'messages.append(close_calls(reply, "«a limit was reached → A LIMIT WAS REACHED»"))': (
            FREE_WORDS
        ),
    },
    "affordable": {
        "return max(«0, int(left_for_writing / written_usd) → "
        "int(left_for_writing / written_usd), 0»)": "The larger of two is the same either way.",
    },
    "brakes": {
        "if run.rounds >= max_rounds: ⇄ if run.cost_usd >= cap_usd:": AMONG_BRAKES,
        "if run.cost_usd >= cap_usd: ⇄ if run.elapsed >= seconds:": AMONG_BRAKES,
        "«return None → pass»": "A function that has come to its end gives back None.",
    },
    "first_of": {
        'return Say("«\\n\\n → XX\\n\\nXX»".join(spoken)) if spoken else None': (
            "What stands between the words of two policies is free."
        ),
    },
    "quiet_nudge": {'return "«d → D»", 4': CAPITAL},
    "window": {
        "if not run.pending: ⇄ calls = [call for reply in run.last(size) for call in "
        "tool_uses(reply)]": "Where no call waits, it is not looked at which there are.",
        'keys = [(call["«name"], call["input → input"], call["name»"]) for call in '
        "calls][-size:]": ANY_KEY,
        "if any(keys.count(key) >= times for key in «keys → (keys)[::-1]»):": ONE_OF_ALIKE,
        "if any(keys.count(key) >= times for key in «keys → (keys)[1:]»):": ONE_OF_ALIKE,
        'return End("stuck", «f"{times} of {size} calls alike → "XX»")': WHY_STUCK,
        'return End("stuck", «f"{times} of {size} calls alike" → None»)': WHY_STUCK,
        'return End("stuck", «f"{times} of {size} calls alike" → »)': WHY_STUCK,
        'return End("stuck", f"«{times} → » of {size} calls alike")': WHY_STUCK,
        'return End("stuck", f"{times} of «{size} → » calls alike")': WHY_STUCK,
        "«return None → pass» (#2)": "A function that has come to its end gives back None.",
    },
    "false_alarm": {'return "«d → D»", 12': CAPITAL},
    "fingerprint": {
        'return call["«name"], call["input → input"], call["name»"], failed, '
        'NOISE.sub("#", outcome(result))': ANY_KEY,
        'return call["name"], «call["input"], failed → failed, call["input"]», '
        'NOISE.sub("#", outcome(result))': ANY_KEY,
        'return call["name"], call["input"], «failed, NOISE.sub("#", outcome(result)) → '
        'NOISE.sub("#", outcome(result)), failed»': ANY_KEY,
        'return call["name"], call["input"], failed, NOISE.sub("«# → XX»", '
        "outcome(result))": ANY_KEY,
        'return call["name"], call["input"], failed, NOISE.sub("«# → XX#XX»", '
        "outcome(result))": ANY_KEY,
    },
    "repetition": {
        'if any(call["name"] in pollers for call, _ in rounds[-1]): ⇄ keys = '
        "[[fingerprint(call, result) for call, result in each] for each in rounds]": NOT_MADE_OF,
        "if run.last_word is «not  → »None or not rounds:": (
            "Asked while the next call waits instead, it says the same a message later."
        ),
        'if any(call["name"] in pollers for call, _ in «rounds[ → (rounds[-1])[::»-1]):': (
            "Whether any call waits does not depend on their order."
        ),
        "keys = [[fingerprint(call, result) for call, result in «each → (each)[::-1]»] "
        "for each in rounds]": ANY_KEY,
        "count, since, speak, stop = times, times * period, «3 → 4», 9": PATIENCE,
        "count, since, speak, stop = times, times * period, 3, «9 → 10»": PATIENCE,
        "if times «< → <=» 3:": PATIENCE,
        "if times < «3 → 4»:": PATIENCE,
        "count, since = keys.count(keys[-1]), len(keys) - keys.index(keys[-1]) ⇄ "
        "speak, stop = 6, 12": NOT_MADE_OF,
        "«speak, stop = 6, 12 → pass»": PATIENCE,
        "speak, stop = «6 → 7», 12": PATIENCE,
        "speak, stop = 6, «12 → 13»": PATIENCE,
        "if count «< → <=» speak:": PATIENCE,
        'return End("stuck", «f"{count} times the same → "XX»") if count >= stop '
        "else None": WHY_STUCK,
        'return End("stuck", «f"{count} times the same" → None») if count >= stop '
        "else None": WHY_STUCK,
        'return End("stuck", «f"{count} times the same" → ») if count >= stop else None': WHY_STUCK,
        'return End("stuck", f"«{count} → » times the same") if count >= stop else None': WHY_STUCK,
        'return End("stuck", f"{count} times the same") if count «>= → >» stop else None': PATIENCE,
    },
    "first_change": {
        "«return None → pass»": "A function that has come to its end gives back None.",
    },
    "marked": {
        'before = messages[: spoken[-1]] if spoken else [] ⇄ mark_last(found.get("system") or '
        'found.get("tools") or [])': MARKS_APART,
        'mark_last(found.get("system") or found.get("tools") or []) ⇄ mark_last([block for message '
        'in before for block in message["content"]])': MARKS_APART,
        'mark_last([block for message in before for block in message["content"]]) ⇄ '
        'mark_last([block for message in messages for block in message["content"]])': MARKS_APART,
    },
    "with_news": {
        "if not news: ⇄ *before, last = messages": "To take the list apart changes nothing in it.",
        'if not tool_results(last): ⇄ *others, result = last["content"]': (
            "Without results what was taken apart is not used."
        ),
    },
    "compact": {
        "cut = max(«1, len(messages) - keep → len(messages) - keep, 1»)": (
            "The larger of two is the same either way."
        ),
    },
    "broken_prefix": {'return "«c → C»", 6': CAPITAL},
    "two_halves": {
        "run = Run(prompt, clock) ⇄ policy = first_of(structural_stop, "
        "brakes(max_rounds, cap_usd, seconds), *more)": (
            "The policy is made without the run, so either can come first."
        ),
    },
    "pairing_fault": {
        'asked = [call["id"] for call in tool_uses(asking)] ⇄ answered = [result["tool_use_id"] '
        "for result in tool_results(answering)] if answering else []": (
            "Neither list is made of the other, so either can come first."
        ),
        "if asked == answered: ⇄ if missing := [id for id in asked if id not in answered]:": (
            "Of two lists that are equal no id is missing in either, so None is given back anyway."
        ),
        "if missing := [id for id in asked if id not in answered]: ⇄ "
        "if strangers := [id for id in answered if id not in asked]:": (
            "Where a call is not answered and a stranger is, either may be told first."
        ),
        "if strangers := [id for id in answered if id not in asked]: ⇄ "
        "return f\"asked for {', '.join(asked)}, answered {', '.join(answered)}: "
        'twice, or out of order"': NEXT,
        "if «missing := [id for id in asked if id not in answered] → False»:": NEXT,
        "if missing := [id for id in asked if «id not in answered → False»]:": NEXT,
        "«return f\"not answered: {', '.join(missing)}\" → pass»": NEXT,
        "if missing := [id for id in «asked → (asked)[::-1]» if id not in answered]:": ANY_ORDER,
        "if missing := [id for id in «asked → (asked)[:1]» if id not in answered]:": ONE_IS_ENOUGH,
        "if missing := [id for id in «asked → (asked)[1:]» if id not in answered]:": ONE_IS_ENOUGH,
        "return f\"not answered: {'«,  → XX, XX»'.join(missing)}\"": ANY_SIGN,
        "if «strangers := [id for id in answered if id not in asked] → False»:": NEXT,
        "if strangers := [id for id in answered if «id not in asked → False»]:": NEXT,
        "«return f\"answered but not asked for: {', '.join(strangers)}\" → pass»": NEXT,
        "if strangers := [id for id in answered if «id not in asked → True»]:": NOT_READ,
        "if strangers := [id for id in «answered → (answered)[::-1]» if id not in asked]:": (
            ANY_ORDER
        ),
        "if strangers := [id for id in «answered → (answered)[:1]» if id not in asked]:": (
            ONE_IS_ENOUGH
        ),
        "if strangers := [id for id in «answered → (answered)[1:]» if id not in asked]:": (
            ONE_IS_ENOUGH
        ),
        "return f\"answered but not asked for: {'«,  → XX, XX»'.join(strangers)}\"": ANY_SIGN,
        "return f\"asked for «{', '.join(asked)} → », answered {', '.join(answered)}: "
        'twice, or out of order"': BOTH_SIDES,
        "return f\"asked for {', '.join(asked)}, answered «{', '.join(answered)} → »: "
        'twice, or out of order"': BOTH_SIDES,
        "return f\"asked for {'«,  → XX, XX»'.join(asked)}, answered {', '.join(answered)}: "
        'twice, or out of order"': ANY_SIGN,
        "return f\"asked for {', '.join(asked)}, answered {'«,  → XX, XX»'.join(answered)}: "
        'twice, or out of order"': ANY_SIGN,
    },
    "ending": {
        'if reason == "tool_use": ⇄ if reason in ("end_turn", "stop_sequence"):': APART,
        'if reason in ("end_turn", "stop_sequence"): ⇄ others = {': APART,
        'if reason in ("«end_turn", "stop_sequence → stop_sequence", "end_turn»"):': ANY_PLACE,
    },
    "labelled": {
        "def labelled(model, tools, prompt, max_rounds=«20 → 21», cap_usd=2.0, "
        "seconds=600, clock=time.monotonic):": DEFAULTS,
        "def labelled(model, tools, prompt, max_rounds=20, cap_usd=«2 → 3».0, "
        "seconds=600, clock=time.monotonic):": DEFAULTS,
        "def labelled(model, tools, prompt, max_rounds=20, cap_usd=2.0, seconds=«600 "
        "→ 601», clock=time.monotonic):": DEFAULTS,
        "messages, «rounds, spent → spent, rounds», began = [user(prompt)], 0, 0.0, clock()": NAMES,
        "messages, rounds, spent, began = [user(prompt)], 0«, 0. → .0, »0, clock()": NOTHING,
        'rounds, spent = rounds + 1, spent + reply["cost_usd"] ⇄ if '
        'said(reply)["content"]:': APPENDED,
        'if said(reply)["content"]: ⇄ label = ending(reply)': APPENDED,
        "if not label and rounds >= max_rounds: ⇄ if not label and spent >= cap_usd:": TWO_LIMITS,
        "if not label and spent >= cap_usd: ⇄ if not label and clock() - began >= "
        "seconds:": TWO_LIMITS,
    },
    "false_finish": {
        'return "«d → D»", 6': CAPITAL,
    },
    "patient_run": {
        'label, calls = ending(reply), tool_uses(reply) ⇄ if said(reply)["content"]:': APPENDED,
        'if label in ("«truncated", "empty_reply → empty_reply", "truncated»") and '
        "lapses < patience:": ANY_PLACE,
        'lapses += 1 ⇄ why = "the reply was cut off; ask for less at a time"': COUNTED,
        'why = "«the reply was cut off; ask for less at a time → XXthe reply was cut '
        'off; ask for less at a timeXX»"': WORDING,
        'why = "«the reply was cut off; ask for less at a time → THE REPLY WAS CUT '
        'OFF; ASK FOR LESS AT A TIME»"': WORDING,
        'messages.append(close_calls(reply, why) if calls else user("«Please go on, '
        'shorter. → XX»"))': WORDING,
        'messages.append(close_calls(reply, why) if calls else user("«Please go on, '
        'shorter. → XXPlease go on, shorter.XX»"))': WORDING,
        'messages.append(close_calls(reply, why) if calls else user("«Please → '
        'please» go on, shorter."))': WORDING,
        'messages.append(close_calls(reply, why) if calls else user("«Please go on, '
        'shorter → PLEASE GO ON, SHORTER»."))': WORDING,
        "lapses = 0 ⇄ messages.append(act(reply, tools))": COUNTED,
    },
    "ask_larger": {
        'if reply["stop_reason"] != "max_tokens": ⇄ spent = reply["cost_usd"]': LATER,
    },
    "verifier": {
        'return "«The tests fail:\\n → XXThe tests fail:\\nXX»" + '
        "excerpt(quiet(output), 1_500)": WORDING,
        'return "«The → the» tests fail:\\n" + excerpt(quiet(output), 1_500)': WORDING,
        'return "«The tests fail → THE TESTS FAIL»:\\n" + excerpt(quiet(output), 1_500)': WORDING,
        'return "The tests fail:\\n" + excerpt(quiet(output), «1_500 → 1501»)': HOW_LONG,
    },
    "wild_hook": {'return "«d → D»", 18': CAPITAL},
    "stop_hook": {
        'if not isinstance(end, End) or end.label != "finished": ⇄ answers = [each for each in '
        'run.backwards() if ending(each) == "finished"]': ONLY_READS,
        "if not said: ⇄ vetoes = in_a_row(run) - 1": ONLY_READS,
        "if vetoes >= cap: ⇄ if vetoes and run.spoken[-1][1] == said:": TWO_BOUNDS,
        'return End("veto_cap", f"«{cap} → » vetoes in a row: {said}")': FREE_WORDS,
    },
    "judge": {
        'run.aside(verdict, "judge") ⇄ said = words(verdict)': ONLY_READS,
        'run.aside(verdict, "«judge → XX»")': WHOSE,
        'run.aside(verdict, "«judge → XXjudgeXX»")': WHOSE,
        'run.aside(verdict, "«judge → JUDGE»")': WHOSE,
    },
    "in_doubt": {
        'return tool_result(call["id"], "outcome unknown, check first", '
        'is_error=«True → "XX"»)': "For whatever is true, tool_result marks the block with True.",
        'return tool_result(call["id"], "«outcome unknown, check first → XXoutcome unknown, '
        'check firstXX»", is_error=True)': NO_SHOUT,
        'return tool_result(call["id"], "«outcome unknown, check first → OUTCOME UNKNOWN, '
        'CHECK FIRST»", is_error=True)': NO_SHOUT,
    },
    "journal": {
        'begun = {line["step"]: line["begun"] for line in lines if "begun" in line} ⇄ done = '
        '{line["step"]: line["done"] for line in lines if "done" in line}': NOT_MADE_OF,
        'done = {line["step"]: line["done"] for line in lines if "done" in line} ⇄ def '
        "step(asked, effect, in_doubt=None):": LATE_NAMES,
        'begun = {line["step"]: line["begun"] for line in «lines → (lines)[::-1]» if "begun" in '
        "line}": ONE_EACH,
        'done = {line["step"]: line["done"] for line in «lines → (lines)[::-1]» if "done" in '
        "line}": ONE_EACH,
        'done = {line["step"]: line["done"] for line in «lines → (lines)[1:]» if "done" in '
        "line}": "The first line of a journal begins a step, so no outcome is lost without it.",
        "if number in done: ⇄ if number in begun:": (
            "A step with an outcome was begun, so nothing is appended before it is given back."
        ),
        'raise Diverged(«f"step {number} was {begun[number]}, and now it is {asked} → '
        '"XX»")': WHICH_STEP,
        'raise Diverged(«f"step {number} was {begun[number]}, and now it is {asked}" → '
        "None»)": WHICH_STEP,
        'raise Diverged(f"step «{number} → » was {begun[number]}, and now it is '
        '{asked}")': WHICH_STEP,
        'raise Diverged(f"step {number} was «{begun[number]} → », and now it is '
        '{asked}")': WHICH_STEP,
        'raise Diverged(f"step {number} was {begun[number]}, and now it is «{asked} → '
        '»")': WHICH_STEP,
    },
    "journaled": {
        "step = journal(path) ⇄ def ask(request):": LATE_NAMES,
        "def ask(request): ⇄ def act(call):": LATE_NAMES,
    },
    "missing_line": {
        'return "«d → D»", 9': CAPITAL,
    },
    "may_pass": {
        'status = getattr(failure, "status", «0 → 1»)': "0 and 1 are both no status of the web.",
        "return status is None or status in («408, 409 → 409, 408», 429) or status >= 500": (
            ANY_PLACE
        ),
        "return status is None or status in (408, «409, 429 → 429, 409») or status >= 500": (
            ANY_PLACE
        ),
    },
    "retried": {
        "except «ModelFailed → BaseException» as failure:": (
            "What is no failure of a model has no status, so may_pass has it raised again."
        ),
        "if not may_pass(failure): ⇄ last = failure": "What is raised needs no last failure.",
        "last = failure ⇄ if attempt < attempts:": "A sleep does not change the failure.",
        'raise ModelFailed(f"{last}; asked «{attempts} → » times") from last': HOW_OFTEN,
    },
    "key": {
        'asked = json.dumps([run, call["id"], call["input"]], sort_keys=«True → "XX"»)': (
            "Whatever is true makes json.dumps sort."
        ),
        'asked = json.dumps([«run, call["id"] → call["id"], run», call["input"]], '
        "sort_keys=True)": ANY_KEY,
        'asked = json.dumps([run, call["«id"], call["input → input"], call["id»"]], '
        "sort_keys=True)": ANY_KEY,
    },
    "once": {
        """raise ValueError(«f"the key {key} was given for {ledger[key]['input']} → "XX»")""": (
            WHICH_KEY
        ),
        """raise ValueError(«f"the key {key} was given for {ledger[key]['input']}" → None»)""": (
            WHICH_KEY
        ),
        """raise ValueError(f"the key «{key} → » was given for {ledger[key]['input']}")""": (
            WHICH_KEY
        ),
        """raise ValueError(f"the key {key} was given for «{ledger[key]['input']} → »")""": (
            WHICH_KEY
        ),
    },
    "doubled": {
        'return "«c → C»", 5': CAPITAL,
    },
    "verdict": {
        "fitting = [said for said, pattern in «rules → (rules)[::-1]» if "
        'fnmatchcase(call["name"], pattern)]': "The strictest counts, wherever it stands.",
    },
    "permission": {
        'if answer is True: ⇄ why = answer if isinstance(answer, str) else "the user said no"': (
            NOT_MADE_OF
        ),
        'answer = said == "allow" or "«by a rule → XXby a ruleXX»"': WHY_NOT,
        'answer = said == "allow" or "«by a rule → BY A RULE»"': WHY_NOT,
        'answer = ask(call) if ask else "«nobody is there to be asked → XXnobody is there to be '
        'askedXX»"': WHY_NOT,
        'answer = ask(call) if ask else "«nobody is there to be asked → NOBODY IS THERE TO BE '
        'ASKED»"': WHY_NOT,
        'why = answer if isinstance(answer, str) else "«the user said no → XXthe user said '
        'noXX»"': WHY_NOT,
        'why = answer if isinstance(answer, str) else "«the user said no → THE USER SAID '
        'NO»"': WHY_NOT,
        'return tool_result(call["id"], f"not executed: denied: {why}", '
        'is_error=«True → "XX"»)': "For whatever is true, tool_result marks the block with True.",
    },
    "who_let_it": {'return "«c → C»", 8': CAPITAL},
    "pool": {
        "lock, spent, reserved = Lock(), 0.0, 0.0 ⇄ def paid(model):": LATE_NAMES,
        "lock, «spent, reserved → reserved, spent» = Lock(), 0.0, 0.0": NAMES,
        "with lock: ⇄ cost = 0.0": NOT_MADE_OF,
        'raise Spent("«nothing is left in the pool → XX»")': FREE_WORDS,
        'raise Spent(«"nothing is left in the pool" → None»)': FREE_WORDS,
        'raise Spent("«nothing is left in the pool → XXnothing is left in the '
        'poolXX»")': FREE_WORDS,
        'raise Spent("«nothing is left in the pool → NOTHING IS LEFT IN THE POOL»")': FREE_WORDS,
        "reserved -= most_usd ⇄ spent += cost": NOT_MADE_OF,
    },
    "all_together": {
        "paid, left = purse or pool(cap_usd, 0.01) ⇄ speak = retried(lambda request: model("
        'request["messages"]), sleep=sleep)': NOT_MADE_OF,
        'speak = retried(lambda request: model(request["messages"]), sleep=sleep) ⇄ tool = '
        "with_user(lambda call: answer(call, tools), ask)": NOT_MADE_OF,
        "if rules is not None: ⇄ policy = first_of(": LAYERS_FIRST,
        "policy = first_of( ⇄ run = Run(prompt, clock)": LAYERS_FIRST,
        "paid, left = purse or pool(cap_usd, «0 → 1».01)": (
            "A run that is alone has one call under way at a time, whatever is reserved for it."
        ),
        "speak, tool, clock = journaled(path, speak, tool, clock, («*safe, USER → USER, "
        "*safe»))": NAMED_SAFE,
        'brakes(max_rounds, cap_usd, seconds), ⇄ brake(lambda run: End("cost_cap", "nothing is '
        'left") if left() <= 0 else None),': AMONG_HOLDERS,
        'brake(lambda run: End("cost_cap", "nothing is left") if left() <= 0 else None), ⇄ '
        "brake(repetition()),": AMONG_HOLDERS,
        'brake(lambda run: End("cost_cap", "«nothing is left → XX»") if left() <= 0 else '
        "None),": FREE_WORDS,
        'brake(lambda run: End("cost_cap", «"nothing is left" → None») if left() <= 0 else '
        "None),": FREE_WORDS,
        'brake(lambda run: End("cost_cap", «"nothing is left" → ») if left() <= 0 else '
        "None),": FREE_WORDS,
        'brake(lambda run: End("cost_cap", "«nothing is left → XXnothing is leftXX»") if '
        "left() <= 0 else None),": FREE_WORDS,
        'brake(lambda run: End("cost_cap", "«nothing is left → NOTHING IS LEFT»") if left() '
        "<= 0 else None),": FREE_WORDS,
    },
}
