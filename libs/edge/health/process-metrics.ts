import { register } from 'prom-client';

let render = (): Promise<string> => register.metrics();

/** Returns what /metrics responds with. */
export const renderMetrics = (): Promise<string> => render();

/** Replaces what /metrics responds with, for a process that is one of several behind one address. */
export const replaceMetrics = (replacement: () => Promise<string>): void => {
  render = replacement;
};
