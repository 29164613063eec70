import { register } from 'prom-client';

let render = (): Promise<string> => register.metrics();

/** Returns the response to /metrics. */
export const renderMetrics = (): Promise<string> => render();

/** Replaces the function that renders the response to /metrics, for a process that is one of several behind one address. */
export const replaceMetrics = (replacement: () => Promise<string>): void => {
  render = replacement;
};
