import type { Ids } from '#platform/kernel';
import { decideWrite, newStream, type StreamWrite } from '#storage/event-store';
import { deriveOtherUsername, deriveUsername, isValidUsername, user, type UserCommand } from './user.js';

/** Returns the username for a name at an identity provider: the name itself if it is a valid username. */
export const chooseUsername = (name: string): string => {
  if (isValidUsername(name)) return name;
  return deriveUsername(name.includes('@') ? name : `${name}@`);
};

type UserToProvision = {
  readonly username: string;
  readonly email: string | null;
  readonly isTaken: boolean;
  readonly suspended: boolean;
};

/** Returns a new user. If `isTaken` is true, another user has the username, and the new one gets a suffix. */
export const prepareProvisionedUser = (
  ids: Ids,
  { username, email, isTaken, suspended }: UserToProvision,
): { readonly id: string; readonly write: StreamWrite } => {
  const id = ids.next('user');
  const free = isTaken ? deriveOtherUsername(username, id.slice(-6)) : username;
  const commands: readonly UserCommand[] = [
    { type: 'CreateUser', data: { username: free, email, siteAdmin: false } },
    ...(suspended
      ? [{ type: 'SuspendUser', data: { organizations: [], owned: [], isLastAdmin: false } } as const]
      : []),
  ];
  return { id, write: decideWrite(user, newStream(id, user), null, ...commands) };
};
