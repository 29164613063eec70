import { rm } from 'node:fs/promises';

export default async () => {
  const { postgres, folder } = globalThis.cadastreTest;
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
};
