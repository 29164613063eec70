export { deriveMacKey, getPlaceholder, isEncryptedText, type OpenedText, type TextOpener } from './encrypted-texts.js';
export {
  ACQUIRE_SHARED_NAMES_LOCK,
  ACQUIRE_SHARED_NAMES_XACT_LOCK,
  buildErasureStatements,
  RELEASE_SHARED_NAMES_LOCK,
} from './name-columns.js';
export { createNameErasureJob, NameEraser, selectForgottenPeopleIn } from './name-eraser.js';
export type { ImportedTexts } from './imported-texts.js';
export { PersonKeys } from './person-keys.js';
export { PersonalDataCipher, type EncryptedEvents } from './personal-data-cipher.js';
export { forEachString, mapStrings, type EventContent } from './personal-texts.js';
