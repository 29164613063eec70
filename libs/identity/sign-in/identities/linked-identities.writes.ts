import { decideWrite, type EventStore, type StreamWrite } from '#storage/event-store';
import { signInMethods, toMethodsStream, type LinkedIdentity, type SignInPerson } from '../methods/sign-in-methods.js';

/** Returns the write that links a new account with an identity, for the append that creates the account. */
export const prepareIdentityLink = async (
  store: EventStore,
  person: SignInPerson,
  identity: LinkedIdentity,
): Promise<StreamWrite> => {
  const loaded = await store.load(toMethodsStream(person.user), signInMethods);
  return decideWrite(signInMethods, loaded, null, { type: 'LinkIdentity', data: { ...person, ...identity } });
};
