let text = ""
process.stdin.on("data", (piece) => (text += piece))
process.stdin.on("end", () => console.log(JSON.stringify({ tool: JSON.parse(text).tool_name })))
