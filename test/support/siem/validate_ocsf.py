"""Reads events of OCSF from stdin, one in each line, and prints the errors of each event as a line of JSON."""

import json
import sys

import jsonschema
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

schemas = OcsfJsonSchemaEmbedded(get_ocsf_schema("1.8.0"))
validators = {}


def find_validator(class_uid):
    if class_uid not in validators:
        schema = schemas.get_class_schema(schemas.lookup_class_name_from_uid(class_uid))
        validators[class_uid] = jsonschema.Draft202012Validator(schema)
    return validators[class_uid]


for line in sys.stdin:
    event = json.loads(line)
    errors = find_validator(event["class_uid"]).iter_errors(event)
    print(json.dumps([f"{error.json_path}: {error.message}" for error in errors]))
