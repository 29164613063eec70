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

/** Returns how often requests were answered from memory, also after a check read what was missing, while the work ran. */
export const countAnswersFromMemory = async (work: () => Promise<unknown>): Promise<number> => {
  const countAnswers = async (): Promise<number> => {
    const { hit = 0, read = 0 } = await countResults();
    return hit + read;
  };
  const before = await countAnswers();
  await work();
  return (await countAnswers()) - before;
};
