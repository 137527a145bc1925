#!/bin/bash
jq -c '{tool: .tool_name}'
