"""Checks a value against docs/report.schema.json. Has only those parts of JSON Schema that this file uses, and needs no package."""
import json
from pathlib import Path

REPORT = json.loads((Path(__file__).parent / "report.schema.json").read_text())

# Members that earlier reports of this format lack. Nothing that is shown depends on them.
LATER = {"complete", "written", "version", "commit", "options"}

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}
NAMED = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number", type(None): "null"}


def is_of(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def wrong(value, schema=None, where="the report"):
    """The first error in the value, in words, or None. Unknown members are removed from objects."""
    schema = REPORT if schema is None else schema
    if "const" in schema and value != schema["const"]:
        return f"{where} is not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {', '.join(schema['enum'])}"
    if "type" in schema and not is_of(value, schema["type"]):
        return f"{where} is {NAMED[type(value)]}, not {NAMED[float] if schema['type'] in ('integer', 'number') else NAMED[TYPES[schema['type']]]}"
    check = {dict: wrong_object, list: wrong_list, int: wrong_number, float: wrong_number}.get(type(value))
    return check(value, schema, where) if check else None


def wrong_number(value, schema, where):
    if not schema.get("minimum", float("-inf")) <= value <= schema.get("maximum", float("inf")):
        return f"{where} is {str(value)[:20]}, which cannot be"
    return None


def wrong_list(value, schema, where):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return f"{where} has {len(value)} members, which cannot be"
    return next(filter(None, (wrong(member, schema.get("items", {}), f"member {i} of {where}") for i, member in enumerate(value))), None)


def wrong_object(value, schema, where):
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value and not (schema is REPORT and name in LATER):
            return f"{where} has no {name}"
    if not schema.get("additionalProperties", True):
        for name in [name for name in value if name not in known]:
            del value[name]
    return next(filter(None, (wrong(member, known[name], name if schema is REPORT else f"{name} of {where}") for name, member in value.items() if name in known)), None)
