import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { organizationKey } from '../../../api/organizations.js';
import { describeError } from '../../../api/api-error.js';
import { workspaceFactsQuery, type SingleChange } from '../../../api/bulk-changes.js';
import { explainUndoRefusal } from '../../../components/undo-refusal.js';
import type { PlannedChange } from './bulk-plan.js';
import { runChanges, type ChangeProgress, type ChangeTask, type FailedTask } from './change-runner.js';

type BulkRunState = {
  readonly progress: ChangeProgress;
  readonly isUndo: boolean;
  readonly isRunning: boolean;
  readonly isStopping: boolean;
};

type UndoPlan = { readonly tasks: readonly ChangeTask[]; readonly refused: readonly FailedTask[] };

/** Reads the workspaces again, and plans to undo only what nobody has changed since. */
const planUndo = async (
  queries: QueryClient,
  organization: string,
  undos: readonly { readonly task: ChangeTask; readonly undo: SingleChange }[],
): Promise<UndoPlan> => {
  const asTask = ({ task: { id, name }, undo }: (typeof undos)[number]): ChangeTask => ({ id, name, change: undo });
  try {
    const query = workspaceFactsQuery(
      organization,
      undos.map(({ task }) => task.id),
    );
    const facts = await queries.fetchQuery({ ...query, staleTime: 0 });
    const now = new Map(facts.map((each) => [each.id, each]));
    const outcomes = undos.map((each) => ({
      task: asTask(each),
      message: explainUndoRefusal(each.task.change, now.get(each.task.id)),
    }));
    return {
      tasks: outcomes.flatMap(({ task, message }) => (message === null ? [task] : [])),
      refused: outcomes.flatMap(({ task, message }) => (message === null ? [] : [{ task, message }])),
    };
  } catch (error) {
    return { tasks: [], refused: undos.map((each) => ({ task: asTask(each), message: describeError(error) })) };
  }
};

const listUndos = (done: readonly ChangeTask[], planned: ReadonlyMap<string, PlannedChange>) =>
  done.flatMap((task) => {
    const undo = planned.get(task.id)?.undo;
    return undo ? [{ task, undo }] : [];
  });

/** Runs the changes of a plan, and their undo. `state` is null before the first run. */
export const useBulkRun = (organization: string) => {
  const queries = useQueryClient();
  const [state, setState] = useState<BulkRunState | null>(null);
  const [planned, setPlanned] = useState<ReadonlyMap<string, PlannedChange>>(new Map());
  const controller = useRef<AbortController | null>(null);
  // Leaving the screen stops what was not sent yet.
  useEffect(() => () => controller.current?.abort(), []);

  const run = async (tasks: readonly ChangeTask[], isUndo: boolean, refused: readonly FailedTask[] = []) => {
    const abort = new AbortController();
    controller.current = abort;
    const report = (progress: ChangeProgress): void =>
      setState({ progress, isUndo, isRunning: true, isStopping: abort.signal.aborted });
    await runChanges(tasks, abort.signal, report, refused);
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
    /** Forgets the run, so that the person can plan another one. */
    reset: () => setState(null),
    stop: () => {
      controller.current?.abort();
      setState((before) => before && { ...before, isStopping: true });
    },
    /** Sends the opposite of what was changed, unless somebody has changed it since. */
    undo: () => {
      setState((before) => before && { ...before, isRunning: true });
      const done = state?.progress.done ?? [];
      void planUndo(queries, organization, listUndos(done, planned)).then(({ tasks, refused }) =>
        run(tasks, true, refused),
      );
    },
  };
};
