import { KeyWrapperError } from '#platform/encryption';
import { StartupError } from '#platform/host';
import type { Settings } from '#platform/settings';
import { findStoredKey, openKeyWrapper, unwrapKey } from '../../../encryption-keys.js';
import { reportFailed, reportOk, reportWarning, type Finding } from './findings.js';

/** Reports whether Vault unwraps the key of the site. Null if the settings name no Vault, or there is no key yet. */
export const inspectKeyWrapper = async (settings: Settings): Promise<Finding | null> => {
  const wrapper = openKeyWrapper(settings);
  if (!wrapper) return null;
  try {
    const key = await findStoredKey(settings);
    if (!key) return null;
    if (Buffer.isBuffer(key.stored)) {
      return reportWarning('vault', `${key.origin}: the key is not wrapped; run cadastre keys wrap`);
    }
    await unwrapKey(key, wrapper);
    return reportOk('vault', `${wrapper.description} unwraps the key`);
  } catch (error) {
    if (error instanceof KeyWrapperError || error instanceof StartupError) return reportFailed('vault', error.message);
    throw error;
  } finally {
    await wrapper.close();
  }
};
