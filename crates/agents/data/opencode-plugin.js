// Written by `tagout install opencode`, taken out by `tagout uninstall opencode`. Do not edit.
//
// Asks Tagout before every tool and reports to it afterwards. Whatever goes wrong before a tool
// refuses the call: a hook that can't be started, ends badly, takes too long or answers in part.
import { spawn } from "node:child_process"

const program = {program}
const words = {words}
const waits = {waits}

function hook(event, payload) {
  return new Promise((resolve, reject) => {
    const refuse = (why) => reject(new Error(`tagout: ${why}, so the call is denied`))
    const child = spawn(program, ["hook", "--client", "opencode", "--event", event, ...words], {
      stdio: ["pipe", "pipe", "pipe"],
    })
    const out = []
    const err = []
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      refuse("the hook took too long")
    }, waits[event])
    child.on("error", () => {
      clearTimeout(timer)
      refuse("the hook could not be started")
    })
    child.stdin.on("error", () => {})
    child.stdout.on("data", (piece) => out.push(piece))
    child.stderr.on("data", (piece) => err.push(piece))
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code !== 0) {
        const text = Buffer.concat(err).toString("utf8").trim()
        return text ? reject(new Error(text)) : refuse(`the hook ended with ${code}`)
      }
      try {
        resolve(JSON.parse(Buffer.concat(out).toString("utf8")))
      } catch {
        refuse("the hook's answer can't be read")
      }
    })
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Tagout = async ({ directory, worktree }) => {
  const tell = (event, name, input, output) =>
    hook(event, { hook: name, input, output, directory, worktree })
  const report = async (event, name, input, output) => {
    try {
      return await tell(event, name, input, output)
    } catch {
      // What has happened can't be refused; Tagout settles it by itself later.
      return undefined
    }
  }
  // Whose subagent a session is, only its beginning says. Until that is told, nothing else of the
  // session is, and none of its tools runs: nobody would know what it may do.
  const beginnings = new Map()
  const sessionOf = (event) => event.properties?.sessionID ?? event.properties?.info?.id
  const begin = (event) => {
    const again = () => tell("session.created", "event~session.created", event, null)
    const first = again()
    first.catch(() => {})
    beginnings.set(sessionOf(event), { first, again })
  }
  const begun = async (session) => {
    const beginning = beginnings.get(session)
    if (!beginning) return
    try {
      await beginning.first
    } catch {
      await beginning.again()
    }
    beginnings.delete(session)
  }
  return {
    "tool.execute.before": async (input, output) => {
      const event = "tool.execute.before"
      await begun(input.sessionID)
      const answer = await tell(event, event, input, output)
      if (answer?.decision === "none") return
      const rewritten = answer?.decision === "rewrite" ? answer.arguments : undefined
      if (rewritten && typeof rewritten === "object" && output.args) {
        // Only a change of the object itself counts; another object in its place is not looked at.
        for (const key of Object.keys(output.args)) delete output.args[key]
        Object.assign(output.args, rewritten)
        return
      }
      throw new Error(answer?.reason ?? "tagout: the hook's answer is unknown, so the call is denied")
    },
    "tool.execute.after": async (input, output) => {
      const event = "tool.execute.after"
      const answer = await report(event, event, input, output)
      if (answer?.context && typeof output?.output === "string") {
        output.output = `${output.output}\n${answer.context}`
      }
    },
    "chat.message": async (input, output) => {
      // What fails here fails again before a tool, where it can be refused.
      await begun(input.sessionID).catch(() => {})
      await report("chat.message", "chat.message", input, output)
    },
    event: async ({ event }) => {
      const name = event?.type
      if (name === "session.created") begin(event)
      if (name === "session.idle" || name === "session.deleted") {
        await begun(sessionOf(event)).catch(() => {})
        await report(name, `event~${name}`, event, null)
      }
    },
  }
}
