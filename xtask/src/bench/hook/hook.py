import json
import sys

call = json.load(sys.stdin)
print(json.dumps({"tool": call["tool_name"]}))
