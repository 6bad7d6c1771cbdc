// Runs the published Node client: one JSON line in, one JSON line out.
//
// {"connect": URL} makes a client; {"call": "secrets.listSecrets", "arguments": [{...}]} calls it;
// {"environment": NAME} reads a variable of this process.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { InfisicalSDK } = createRequire(`${process.argv[2]}/`)("@infisical/sdk");
let client;

async function called(path, given) {
  const [group, ...names] = path.split(".");
  let owner = client[group]();
  const operation = names.pop();
  for (const name of names) owner = owner[name];
  try {
    const result = await owner[operation](...given);
    return { result: result instanceof InfisicalSDK ? null : (result ?? null) };
  } catch (error) {
    const status = /\[StatusCode=(\d+)\]/.exec(error.message);
    return { error: error.message, status: status && Number(status[1]) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer = { result: null };
  if ("connect" in asked) client = new InfisicalSDK({ siteUrl: asked.connect });
  else if ("environment" in asked) answer = { result: process.env[asked.environment] ?? null };
  else answer = await called(asked.call, asked.arguments);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
