import { useRef, useState } from 'react';
import { describeError } from '../api/api-error.js';
import { endDirections } from '../api/direction-controls.js';
import type { TagFact } from '../api/tag-facts.js';
import { useChangeTag, useReadFacts, type TagChange } from '../api/workspace-tags.js';
import type { WorkspaceDocument } from '../api/workspaces.js';
import { formatTag } from './tag-text.js';
import { showToast } from '../toasts.js';
import { explainUndoRefusal } from './undo-refusal.js';

export type TagContentProps = {
  readonly organization: string;
  readonly workspace: WorkspaceDocument;
  /** Null: the person enters the key of a new tag. */
  readonly tagKey: string | null;
  readonly onClose: () => void;
};

export type TagFormProps = TagContentProps & {
  readonly tags: readonly TagFact[];
  /** Whether a reserved key forbids the workspace a value of its own. */
  readonly isFixed: boolean;
};

/** Returns the tag of this key that applies to the workspace, and the one that the workspace itself has. */
const findTags = (tags: readonly TagFact[], key: string) => {
  const present = tags.find((tag) => tag.key === key);
  return { present, own: present?.isInherited === false ? present : undefined };
};

/** A change of a tag, and its undo, which does nothing if somebody has changed the same tag since. */
const useGuardedChange = (organization: string, { id, attributes: { name } }: WorkspaceDocument['data']) => {
  const change = useChangeTag(organization, id);
  const readFacts = useReadFacts(organization, id);
  /** Returns why the workspace is not as this change leaves it, or cannot be read. Null if it is. */
  const explainDifference = (sent: TagChange) =>
    readFacts().then((now) => explainUndoRefusal(sent, now), describeError);
  const undoChange = async (sent: TagChange, undo: TagChange): Promise<void> => {
    const refusal = await explainDifference(sent);
    if (refusal === null) change.mutate(undo);
    else showToast({ kind: 'error', message: `Nothing was undone in the workspace ${name}. ${refusal}` });
  };
  return { change, explainDifference, undoChange };
};

/** A change of a tag, and the messages about it, which offer to undo it. */
const useReportedChange = (organization: string, workspace: WorkspaceDocument['data']) => {
  const { change, explainDifference, undoChange } = useGuardedChange(organization, workspace);
  const report = (message: string, sent: TagChange, undo: TagChange | null): void => {
    showToast({ kind: 'success', message, undo: undo ? () => void undoChange(sent, undo) : undefined });
  };
  /** The server removes a tag only with the value that the person saw, and answers the same if it has another one. */
  const reportRemoval = async (sent: TagChange, undo: TagChange | null): Promise<void> => {
    const reason = await explainDifference(sent);
    if (reason === null) return report(`The tag ${sent.key} is removed.`, sent, undo);
    const message = `The workspace ${workspace.attributes.name} may still have the tag ${sent.key}. ${reason}`;
    return void showToast({ kind: 'error', message });
  };
  return { change, report, reportRemoval };
};

type TagAttempts = {
  readonly key: string;
  readonly before: TagFact | undefined;
  /** The value before the attempts, and those that they have sent, as the console reads them. Null: no tag. */
  readonly values: readonly (string | null)[];
};

/**
 * Returns a function that records an attempt to change a tag, and returns the tag as it was before the first attempt. If the
 * answer of an attempt was lost, the present value can be the one that it has sent.
 */
const useTagAttempts = () => {
  const attempts = useRef<TagAttempts>(null);
  return (own: TagFact | undefined, sent: TagChange): TagFact | undefined => {
    const { key } = sent;
    const present = own?.value ?? null;
    const earlier = attempts.current;
    const isOwnWork = earlier?.key === key && earlier.values.includes(present);
    const { before, values } = isOwnWork ? earlier : { before: own, values: [present] };
    attempts.current = { key, before, values: [...values, sent.kind === 'bind' ? endDirections(sent.value) : null] };
    return before;
  };
};

/** Returns the change that restores a tag, or null. `before`: undefined if the workspace had no tag of its own. */
const toUndo = (before: TagFact | undefined, sent: TagChange, isFixed: boolean): TagChange | null => {
  if (!before) return sent.kind === 'bind' ? { ...sent, kind: 'unbind' } : null;
  // The server refuses to restore a value that a reserved key forbids.
  if (isFixed || (sent.kind === 'bind' && before.value === sent.value)) return null;
  return { kind: 'bind', key: before.key, value: before.value };
};

/** The requests that save and remove a tag. A message offers to undo them. */
export const useTagChanges = (
  { organization, workspace, isFixed, onClose }: TagFormProps,
  own: TagFact | undefined,
) => {
  const { change, report, reportRemoval } = useReportedChange(organization, workspace.data);
  const recordAttempt = useTagAttempts();
  const send = (sent: TagChange, onSent: (undo: TagChange | null) => void): void => {
    const before = recordAttempt(own, sent);
    change.mutate(sent, {
      onSuccess: () => {
        onSent(toUndo(before, sent, isFixed));
        onClose();
      },
    });
  };
  return {
    error: change.error,
    isPending: change.isPending,
    isDone: change.isPending || change.isSuccess,
    save: (tag: { readonly key: string; readonly value: string }): void => {
      const text = endDirections(formatTag(tag));
      // After a failed attempt, the present value can be the one that it has sent.
      if (!change.error && own?.value === tag.value) {
        showToast({ kind: 'notice', message: `Nothing has changed: the workspace has the tag ${text} already.` });
        return onClose();
      }
      const sent = { kind: 'bind' as const, ...tag };
      return send(sent, (undo) => report(`The tag ${text} is saved.`, sent, undo));
    },
    remove: ({ key, value }: TagFact): void => {
      const sent = { kind: 'unbind' as const, key, value };
      send(sent, (undo) => void reportRemoval(sent, undo));
    },
  };
};

/** The fields of the form. A value that the person has not changed follows the present value. */
export const useTagForm = (props: TagFormProps) => {
  const { tagKey, tags } = props;
  const [typedKey, setTypedKey] = useState('');
  const [typedValue, setTypedValue] = useState<string | null>(null);
  const key = tagKey ?? typedKey.trim();
  const { present, own } = findTags(tags, key);
  const ownValue = tagKey === null ? undefined : own?.value;
  const [opened, setOpened] = useState(ownValue);
  const changes = useTagChanges(props, own);
  const value = typedValue ?? ownValue ?? '';
  return {
    typedKey,
    value,
    present,
    own,
    changes,
    isOutdated: opened !== ownValue && !changes.isDone,
    enterKey: setTypedKey,
    enterValue: setTypedValue,
    reset: () => {
      setTypedValue(null);
      setOpened(ownValue);
    },
    submit: () => changes.save({ key, value: value.trim() }),
  };
};
