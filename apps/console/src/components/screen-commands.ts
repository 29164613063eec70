import { useEffect, useEffectEvent } from 'react';
import { createStore } from '../store.js';

/* Commands of the open screen. The palette lists them, and runs one as if the person had pressed its button. */

type ScreenCommand = { readonly label: string; readonly run: () => void };

const commands = createStore<readonly ScreenCommand[]>([]);

/** The command that the person chose on another screen, until the screen that has it is there. */
let requested: { readonly label: string; readonly until: number } | null = null;

const REQUEST_MS = 10_000;

/** Runs the command with this label as soon as a screen registers it. A screen without it, or a slow one, forgets the request. */
export const requestScreenCommand = (label: string): void => {
  requested = { label, until: Date.now() + REQUEST_MS };
};

const takeRequest = (label: string): boolean => {
  const isRequested = requested?.label === label && Date.now() < requested.until;
  if (isRequested) requested = null;
  return isRequested;
};

/** Registers a command while the component is on the screen. Null registers none. */
export const useScreenCommand = (label: string | null, onRun: () => void): void => {
  const run = useEffectEvent(onRun);
  useEffect(() => {
    if (label === null) return undefined;
    const command = { label, run: () => run() };
    commands.set([...commands.get(), command]);
    if (takeRequest(label)) command.run();
    return () => commands.set(commands.get().filter((each) => each !== command));
  }, [label]);
};

/** Returns the commands of the open screen. */
export const useScreenCommands = commands.useValue;
