"""Reads lines of CEF from stdin, and prints the fields of each line as a line of JSON; null if it is no CEF."""

import json
import sys

import pycef

for line in sys.stdin.buffer.read().decode("utf-8").split("\n")[:-1]:
    print(json.dumps(pycef.parse(line)))
