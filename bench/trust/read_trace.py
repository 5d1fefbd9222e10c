#!/usr/bin/env python3
"""Prints the run in a trace of any language: read_trace.py TRACE.json ...

It knows the schema (trellis schema trace) and nothing else: not the model, not the language, nothing of Trellis.
"""
import json
import sys


def shown(value):
    """A value for people: an element of a lattice has a text, an array its entries."""
    if isinstance(value, dict):
        if "shown" in value:
            return value["shown"]
        if "entries" in value:
            entries = ", ".join(f"{i}: {shown(v)}" for i, v in value["entries"].items())
            return "[" + ", ".join(filter(None, [entries, f"default: {shown(value['default'])}"])) + "]"
    return value if isinstance(value, str) else json.dumps(value)


def values(some):
    return ", ".join(f"{name} = {shown(value)}" for name, value in some.items())


def show(trace):
    assert trace["schema"] == "trellis-trace/2", trace["schema"]
    print(f"{trace['inputs'][0]['name']} ({trace['language']}): {trace['property']}")
    print(f"   0  {values(trace['start'])}")
    state = dict(trace["start"])
    for number, step in enumerate(trace["steps"], 1):
        state.update(step["set"])
        if number == trace.get("loop", -1) + 1:
            print("      again and again:")
        if step.get("delay", "0") != "0":
            print(f"      after {step['delay']}")
        place = step.get("place", {})
        where = ":".join(str(place[k]) for k in ("file", "line") if k in place)
        print(f"{number:4}  {where + '  ' if where else ''}{step['label']}")
        for part in step.get("parts", []):
            if part["name"] and "from" in part:
                message = f"  {step['message']}{'!' if part.get('sends') else '?'}" if "message" in step else ""
                print(f"        {part['name']}: {part['from']} -> {part.get('to')}{message}")
        if step["set"]:
            print(f"        {values(step['set'])}")
    if trace.get("rest", "0") != "0":
        print(f"      then {trace['rest']} time units pass")
    if "recurrent" in trace:
        print(f"      and so on forever, while {trace['recurrent']['set']}")
    print(f"      at the end: {values(state)}\n")


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        show(json.load(file))
