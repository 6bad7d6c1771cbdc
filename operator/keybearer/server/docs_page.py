"""The page at /api/docs: reads the document and sends requests, with nothing from the internet."""

from __future__ import annotations

__all__ = ["PAGE"]

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Keybearer API</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
summary { cursor: pointer; padding: .2rem 0 }
code, pre, textarea, input { font: 13px/1.5 ui-monospace, monospace }
b { display: inline-block; width: 4.5rem; font-size: 13px }
pre, textarea { width: 100%; box-sizing: border-box; background: #f5f5f5; padding: .5rem; overflow: auto }
label { display: block; margin: .2rem 0 }
details > div { margin: 0 0 1rem 4.5rem }
@media (prefers-color-scheme: dark) {
  body { background: #111; color: #ddd }
  pre, textarea { background: #222; color: #ddd }
}
</style>
<h1>Keybearer API</h1>
<p>The document itself: <a href="/api/docs/json">/api/docs/json</a></p>
<label>Access token (kept in this page only): <input id="token" type="password" size="40"></label>
<div id="operations">Loading the document.</div>
<script>
"use strict";
const make = (tag, text, parent) => {
  const node = document.createElement(tag);
  node.textContent = text;
  parent.append(node);
  return node;
};
const example = (schema, all, depth = 0) => {
  if (!schema || depth > 5) return null;
  if (schema.$ref) return example(all[schema.$ref.split("/").pop()], all, depth + 1);
  if ("default" in schema) return schema.default;
  if (schema.anyOf) return example(schema.anyOf[0], all, depth + 1);
  if (schema.enum) return schema.enum[0];
  if (schema.type === "object") return Object.fromEntries(
    (schema.required || []).map((name) => [name, example(schema.properties[name], all, depth + 1)]));
  return { array: [], boolean: false, integer: 1, number: 1, string: "" }[schema.type] ?? null;
};
const show = (path, method, operation, all, parent) => {
  const entry = make("details", "", parent);
  const head = make("summary", "", entry);
  make("b", method.toUpperCase(), head);
  make("code", path, head);
  make("span", " " + (operation.summary || ""), head);
  const form = make("div", "", entry);
  const inputs = (operation.parameters || []).map((parameter) => {
    const note = parameter.required ? ", required" : "";
    const label = make("label", `${parameter.name} (${parameter.in}${note}) `, form);
    const input = document.createElement("input");
    label.append(input);
    return [parameter, input];
  });
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  let body = null;
  if (schema) {
    body = make("textarea", JSON.stringify(example(schema, all), null, 2), form);
    body.rows = 8;
  }
  const send = make("button", "Send", form);
  const answer = make("pre", "", form);
  send.onclick = async () => {
    let target = path;
    const query = new URLSearchParams();
    for (const [parameter, input] of inputs) {
      const name = parameter.name;
      if (parameter.in === "path") target = target.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value) query.set(name, input.value);
    }
    const headers = { "content-type": "application/json" };
    const token = document.getElementById("token").value;
    if (token) headers.authorization = "Bearer " + token;
    try {
      const response = await fetch(target + (query.size ? "?" + query : ""), {
        method: method.toUpperCase(), headers, body: body ? body.value : undefined });
      const text = await response.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { }
      answer.textContent = response.status + "\\n" + shown;
    } catch (error) {
      answer.textContent = String(error);
    }
  };
};
fetch("/api/docs/json").then((response) => response.json()).then((api) => {
  const parent = document.getElementById("operations");
  parent.textContent = "";
  const groups = {};
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods))
      (groups[operation.tags?.[0] || "Other"] ??= []).push([path, method, operation]);
  for (const [name, operations] of Object.entries(groups)) {
    make("h2", name, parent);
    for (const [path, method, operation] of operations)
      show(path, method, operation, api.components.schemas, parent);
  }
});
</script>
</html>
"""
