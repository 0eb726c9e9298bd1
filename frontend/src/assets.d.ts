/** What the build makes of files that are not code. */

declare module "*.woff2" {
  /** Relative to the built module. */
  const path: string;
  export default path;
}

declare module "*.css" {
  const text: string;
  export default text;
}
