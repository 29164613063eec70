import { VERSION } from '#platform/host';
import { startTracing, type RunningTracing } from '#platform/tracing';
import type { Runtime } from './runtime.js';

/** Starts to record traces. Returns null if the settings name no collector. Call it before the process serves requests. */
export const openTracing = async (
  { settings, logger }: Pick<Runtime, 'settings' | 'logger'>,
  name: string,
): Promise<RunningTracing | null> =>
  settings.tracing && startTracing(settings.tracing, { name, version: VERSION }, logger);
