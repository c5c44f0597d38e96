// The container of the extension, as JupyterLab 4 loads it: an object with init and get, in window._JUPYTERLAB under the extension's name
// (https://webpack.js.org/concepts/module-federation/#dynamic-remote-containers). It is small enough to be written by hand, so the build
// needs neither webpack nor JupyterLab's own builder, and the bundle holds nothing but this extension.
import { plugins } from './plugin';

interface Provided { get: () => Promise<() => unknown>; loaded?: boolean | number; eager?: boolean }
type Scope = Record<string, Record<string, Provided>>;

/** Gives a module that the page provides. */
export type Shared = (name: string) => Promise<unknown>;

let scope: Scope = {};

const shared: Shared = async name => {
  const versions = Object.entries(scope[name] ?? {});
  // The version that the page uses itself, where several are on offer.
  const chosen = versions.find(([, p]) => p.loaded) ?? versions[0];
  if (!chosen) throw new Error(`halftone: this page has no ${name}`);
  return (await chosen[1].get())();
};

const container = {
  init(offered: Scope): void {
    scope = offered;
  },
  async get(module: string): Promise<() => unknown> {
    if (module !== './extension') throw new Error(`halftone: there is no module ${module}`);
    const list = await plugins(shared);
    return () => ({ __esModule: true, default: list });
  },
};

const page = window as unknown as { _JUPYTERLAB?: Record<string, unknown> };
(page._JUPYTERLAB ??= {})['@halftone/figures'] = container;
