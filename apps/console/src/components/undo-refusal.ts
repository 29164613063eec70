import { NOT_FOUND } from '../api/api-error.js';
import type { SingleChange, WorkspaceFacts } from '../api/bulk-changes.js';
import { endDirections } from '../api/direction-controls.js';
import type { TagFact } from '../api/tag-facts.js';
import { formatTag } from './tag-text.js';

const findOwnTag = ({ tags }: WorkspaceFacts, key: string): TagFact | undefined =>
  tags.find((tag) => tag.key === key && !tag.isInherited);

/**
 * Returns why a change is not undone: somebody has changed the same thing since. Null if the workspace is as the change has
 * left it. The server itself refuses to unlock for another holder.
 */
export const explainUndoRefusal = (change: SingleChange, now: WorkspaceFacts | undefined): string | null => {
  if (!now) return NOT_FOUND;
  switch (change.kind) {
    case 'lock':
    case 'unlock':
      return null;
    case 'bind': {
      const tag = findOwnTag(now, change.key);
      // What the console reads ends its directions.
      if (tag?.value === endDirections(change.value)) return null;
      return tag ? `Its tag is ${formatTag(tag)} now.` : `It has no tag ${change.key} of its own now.`;
    }
    case 'unbind': {
      const tag = findOwnTag(now, change.key);
      return tag ? `Its tag is ${formatTag(tag)} now.` : null;
    }
    case 'move':
      return now.project.id === change.project ? null : `It is in the project ${now.project.name} now.`;
  }
};
