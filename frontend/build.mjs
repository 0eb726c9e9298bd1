// Builds every panel into the Python package, or into the folder it is given: hashed names, shared chunks, a .gz beside
// each text file, manifest.json.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../tb_plugins/zentracer_tb/static");
const panels = { weights: "src/panels/weights/index.tsx" };

mkdirSync(target, { recursive: true });
for (const name of readdirSync(target)) if (name !== ".gitignore") rmSync(join(target, name));

/** Styles travel inside the script, as text: the frame has no page of its own to link them from. */
const styles = {
  name: "styles",
  setup(plugins) {
    plugins.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
};

const result = await build({
  absWorkingDir: here,
  entryPoints: panels,
  outdir: target,
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["chrome111", "firefox115", "safari16.4"],
  minify: true,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  entryNames: "[name]-[hash]",
  chunkNames: "chunk-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".woff2": "file" },
  plugins: [styles],
  metafile: true,
  logLevel: "warning",
});

const manifest = {};
for (const [path, output] of Object.entries(result.metafile.outputs)) {
  const name = basename(path);
  const panel = Object.keys(panels).find((key) => output.entryPoint === panels[key]);
  if (panel) manifest[panel] = name;
  if (name.endsWith(".js"))
    writeFileSync(join(target, `${name}.gz`), gzipSync(readFileSync(join(target, name)), { level: 9 }));
}
writeFileSync(join(target, "manifest.json"), `${JSON.stringify(manifest)}\n`);
