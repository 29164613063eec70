import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { organizationKey } from '../../../api/organizations.js';
import type { PlannedChange } from './bulk-plan.js';
import { runChanges, type ChangeProgress, type ChangeTask } from './change-runner.js';

type BulkRunState = {
  readonly progress: ChangeProgress;
  readonly isUndo: boolean;
  readonly isRunning: boolean;
  readonly isStopping: boolean;
};

/** Runs the changes of a plan, and their undo. `state` is null before the first run. */
export const useBulkRun = (organization: string) => {
  const queries = useQueryClient();
  const [state, setState] = useState<BulkRunState | null>(null);
  const [planned, setPlanned] = useState<ReadonlyMap<string, PlannedChange>>(new Map());
  const controller = useRef<AbortController | null>(null);
  // Leaving the screen stops what was not sent yet.
  useEffect(() => () => controller.current?.abort(), []);

  const run = async (tasks: readonly ChangeTask[], isUndo: boolean): Promise<void> => {
    const abort = new AbortController();
    controller.current = abort;
    await runChanges(tasks, abort.signal, (progress) =>
      setState({ progress, isUndo, isRunning: true, isStopping: abort.signal.aborted }),
    );
    setState((before) => before && { ...before, isRunning: false, isStopping: false });
    await queries.invalidateQueries({ queryKey: organizationKey(organization) });
  };
  return {
    state,
    start: (changes: readonly PlannedChange[]) => {
      setPlanned(new Map(changes.map((each) => [each.workspace.id, each])));
      const tasks = changes.map(({ workspace: { id, name }, change }) => ({ id, name, change }));
      void run(tasks, false);
    },
    stop: () => {
      controller.current?.abort();
      setState((before) => before && { ...before, isStopping: true });
    },
    /** Sends the opposite of what was changed. */
    undo: () => {
      const done = state?.progress.done ?? [];
      const tasks = done.flatMap(({ id, name }) => {
        const change = planned.get(id)?.undo;
        return change ? [{ id, name, change }] : [];
      });
      void run(tasks, true);
    },
  };
};
