// Where a function of the bundle was written.
import { readFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const readMap = async (url) => {
  try {
    return new SourceMap(JSON.parse(await readFile(fileURLToPath(`${url}.map`), 'utf8')));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
};

/** Returns the frame with the file and line of the source, if the map has it. Lines and columns count from 0, as in profiles. */
const locate = (frame, map) => {
  const { originalSource, originalLine } = map?.findEntry(frame.lineNumber, frame.columnNumber) ?? {};
  return originalSource === undefined
    ? frame
    : { ...frame, url: new URL(originalSource, frame.url).href, lineNumber: originalLine };
};

/** Returns a CPU profile of V8 in which functions of files with a source map have the file and line of their source. */
export const locateSources = async (profile) => {
  const urls = new Set(profile.nodes.map(({ callFrame }) => callFrame.url).filter((url) => url.startsWith('file:')));
  const maps = new Map(await Promise.all([...urls].map(async (url) => [url, await readMap(url)])));
  const nodes = profile.nodes.map((node) => ({
    ...node,
    callFrame: locate(node.callFrame, maps.get(node.callFrame.url)),
  }));
  return { ...profile, nodes };
};
