/** TensorBoard's page around our frame. Reaching into it is an enhancement: every way in may be closed. */

interface Storage {
  getString(key: string): string;
  setString(key: string, value: string, options: { defaultValue: string; useLocationReplace: boolean }): void;
}

/** What of a window we look at; tests hand in a plain object. */
export interface HostWindow {
  readonly location: { readonly href: string; readonly search: string; readonly hash: string };
  readonly history: {
    readonly state: unknown;
    replaceState(state: unknown, unused: string, url: string): void;
  };
  readonly document: Document;
  readonly tensorboard?: { readonly tf_storage?: Storage };
}

/** `reach` of the page around us, or `otherwise` where there is none or it does not let us in. */
export function withParent<T>(reach: (page: HostWindow) => T, otherwise: T): T {
  try {
    if (window.parent === window) return otherwise;
    return reach(window.parent as unknown as HostWindow);
  } catch {
    return otherwise; // another origin, a sandbox, or a TensorBoard that changed
  }
}

/** `?runFilter=` of TensorBoard's address: the runs its other tabs show. */
export const runFilter = (): string =>
  withParent((page) => new URLSearchParams(page.location.search).get("runFilter") ?? "", "");

/** The address that opens TensorBoard on this view. */
export const linkToHere = (): string => withParent((page) => page.location.href, window.location.href);

/** Takes the keyboard where nobody else in the page has it, so that keys work before the first click. */
export function takeFocus(): void {
  if (withParent((page) => page.document.activeElement === page.document.body, false)) window.focus();
}
