import { useQueryClient } from '@tanstack/react-query';
import { sendChange, type SingleChange } from './bulk-changes.js';
import { organizationKey } from './organizations.js';
import { useChange } from './use-change.js';

export type TagChange = Extract<SingleChange, { readonly kind: 'bind' | 'unbind' }>;

/** Sets or removes a tag of the workspace with this id. */
export const useChangeTag = (organization: string, id: string) => {
  const queries = useQueryClient();
  return useChange({
    mutationFn: (change: TagChange) => sendChange(id, change),
    // Lists and the matrix of tags show it too.
    onSettled: () => queries.invalidateQueries({ queryKey: organizationKey(organization) }),
  });
};
