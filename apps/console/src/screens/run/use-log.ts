import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/api-error.js';
import { readLogPart } from '../../api/run-output.js';
import { OutputReader, MAX_LINES, removeMarks, type LogLine } from './log-lines.js';

const POLL_MS = 1_000;
const RETRY_MS = 5_000;
/** A log whose end has not arrived, for example because its executor was lost. */
const MAX_EMPTY_PARTS = 3;

export type FollowedLog = {
  readonly lines: readonly LogLine[];
  /** The lines before, which are in the file only. */
  readonly dropped: number;
  readonly error: Error | null;
  /** Whether something was read. */
  readonly isLoaded: boolean;
};

const EMPTY: FollowedLog = { lines: [], dropped: 0, error: null, isLoaded: false };

const append = (log: FollowedLog, lines: readonly LogLine[]): FollowedLog => {
  const all = lines.length === 0 ? log.lines : [...log.lines, ...lines];
  const excess = Math.max(0, all.length - MAX_LINES);
  return { lines: excess === 0 ? all : all.slice(excess), dropped: log.dropped + excess, error: null, isLoaded: true };
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Nobody reads a page in the background. */
const waitUntilVisible = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (!document.hidden) return resolve();
    return document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
  });

type LogSource = {
  /** Changes with each read of the run, because it contains when it ends. */
  readonly address: string;
  readonly hasEnded: boolean;
};

/** Reads a log from its start, and follows it until it ends. */
export const useLog = ({ address, hasEnded }: LogSource): FollowedLog => {
  const [reader] = useState(() => new OutputReader());
  const [log, setLog] = useState(EMPTY);
  const latest = useRef(address);
  useEffect(() => {
    latest.current = address;
  }, [address]);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const readNext = async (): Promise<number> => {
      const part = await readLogPart(latest.current, reader.offset, signal);
      const lines = reader.push(part);
      setLog((before) => append(before, lines));
      return part.length;
    };
    const follow = async (): Promise<void> => {
      let emptyParts = 0;
      while (!signal.aborted && !reader.isComplete && !(hasEnded && emptyParts >= MAX_EMPTY_PARTS)) {
        await waitUntilVisible(signal);
        try {
          const length = await readNext();
          emptyParts = length === 0 ? emptyParts + 1 : 0;
          if (length === 0) await pause(POLL_MS, signal);
        } catch (error) {
          if (signal.aborted) return;
          setLog((before) => ({ ...before, error: error as Error }));
          if (error instanceof ApiError && error.isNotFound) return;
          await pause(RETRY_MS, signal);
        }
      }
    };
    void follow();
    return () => controller.abort();
  }, [reader, hasEnded]);
  return log;
};

/** Reads the whole log again, and lets the browser save it. */
export const saveLog = async (address: string, name: string): Promise<void> => {
  const parts: Uint8Array[] = [];
  for (let offset = 0, length = 1; length > 0; offset += length) {
    const part = await readLogPart(address, offset);
    length = part.length;
    parts.push(removeMarks(part));
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts as BlobPart[], { type: 'text/plain' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), RETRY_MS);
};
