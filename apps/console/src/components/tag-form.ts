import { useState, type SyntheticEvent } from 'react';
import { describeError } from '../api/api-error.js';
import type { TagFact } from '../api/tag-facts.js';
import { useChangeTag, useReadFacts, type TagChange } from '../api/workspace-tags.js';
import type { WorkspaceDocument } from '../api/workspaces.js';
import { formatTag } from './tag-text.js';
import { showToast } from './toasts.js';
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

/** The requests that save and remove a tag. A message offers to undo them. */
export const useTagChanges = (
  { organization, workspace, isFixed, onClose }: TagFormProps,
  own: TagFact | undefined,
) => {
  const { change, explainDifference, undoChange } = useGuardedChange(organization, workspace.data);
  // The server refuses to restore a value that a reserved key forbids.
  const restore = own && !isFixed ? { kind: 'bind' as const, key: own.key, value: own.value } : null;
  const report = (message: string, sent: TagChange, undo: TagChange | null) =>
    showToast({ kind: 'success', message, undo: undo ? () => void undoChange(sent, undo) : undefined });
  /** The server removes a tag only with the value that the person saw, and answers the same if it has another one. */
  const reportRemoval = async (sent: TagChange): Promise<void> => {
    const reason = await explainDifference(sent);
    if (reason === null) report(`The tag ${sent.key} is removed.`, sent, restore);
    else {
      const message = `The workspace ${workspace.data.attributes.name} may still have the tag ${sent.key}. ${reason}`;
      showToast({ kind: 'error', message });
    }
  };
  const send = (sent: TagChange, onSent: () => void) =>
    change.mutate(sent, {
      onSuccess: () => {
        onSent();
        onClose();
      },
    });
  return {
    error: change.error,
    isPending: change.isPending,
    isDone: change.isPending || change.isSuccess,
    save: (tag: { readonly key: string; readonly value: string }) => {
      const sent = { kind: 'bind' as const, ...tag };
      send(sent, () => report(`The tag ${formatTag(tag)} is saved.`, sent, own ? restore : { kind: 'unbind', ...tag }));
    },
    remove: ({ key, value }: TagFact) => {
      const sent = { kind: 'unbind' as const, key, value };
      send(sent, () => void reportRemoval(sent));
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
    submit: (event: SyntheticEvent) => {
      event.preventDefault();
      changes.save({ key, value: value.trim() });
    },
  };
};
