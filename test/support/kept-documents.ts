import { cacheMetrics } from '#api/document-cache';

/** Counts requests of all gateways of this process for documents that may be kept, by result. */
const countResults = async (): Promise<Readonly<Record<string, number>>> => {
  const { values } = await cacheMetrics.requests.get();
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.result), value]));
};

/** Returns how often requests were answered from memory while the work ran. */
export const countHits = async (work: () => Promise<unknown>): Promise<number> => {
  const before = (await countResults())['hit'] ?? 0;
  await work();
  return ((await countResults())['hit'] ?? 0) - before;
};
