import type { Keyring } from './person-keys.js';
import { getPlaceholder } from './encrypted-texts.js';
import { replaceTexts, type EventContent, type EventPersonalTexts } from './personal-texts.js';

/** Returns the events as views show them and as the log stores them. */
export const encryptTexts = <E extends EventContent>(
  events: readonly E[],
  personalTexts: readonly EventPersonalTexts[],
  keyring: Keyring,
): { readonly readableEvents: readonly E[]; readonly eventsToStore: readonly E[] } => {
  // Views must not show people without a key, nor people who are forgotten by these events.
  const readableEvents = events.map((event, n) =>
    replaceTexts(event, personalTexts[n] as EventPersonalTexts, (text, of) =>
      keyring.get(of.person) ? text : getPlaceholder(of),
    ),
  );
  const eventsToStore = readableEvents.map((event, n) =>
    // A name that equals the id is not encrypted: the person was forgotten before the decision, or really has this
    // name.
    replaceTexts(event, personalTexts[n] as EventPersonalTexts, (text, { kind, person }) =>
      kind === 'name' && text === person ? text : (keyring.get(person)?.encrypt(kind, text) ?? text),
    ),
  );
  return { readableEvents, eventsToStore };
};
