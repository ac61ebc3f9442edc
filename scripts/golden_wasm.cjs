// Decodes every golden file with a WebAssembly build of the library, and compares with what is committed.
//
//     node scripts/golden_wasm.cjs golden_wasm.wasm
const fs = require("fs");
const path = require("path");

const folder = path.join(__dirname, "..", "golden");
const module_ = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
const { push, decode, byte } = new WebAssembly.Instance(module_, {}).exports;

let failures = 0;
const files = fs.readdirSync(folder).filter((name) => name.endsWith(".ebz"));
for (const name of files) {
  for (const value of fs.readFileSync(path.join(folder, name))) push(value);
  const found = Buffer.from(Array.from({ length: decode() }, (_, at) => byte(at))).toString();
  const ending = name.includes("-error-") ? ".txt" : ".xxh3";
  const expected = fs.readFileSync(path.join(folder, name.replace(/\.ebz$/, ending)), "utf8");
  if (found !== expected) {
    console.error(`${name}: ${found.trim()} instead of ${expected.trim()}`);
    failures += 1;
  }
}
console.log(`| wasm32 | Node ${process.versions.node} | ${files.length} golden files | ${failures} |`);
process.exit(files.length === 0 || failures > 0 ? 1 : 0);
