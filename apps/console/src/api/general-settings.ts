import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';
import { useChange } from './use-change.js';

export type SiteSettings = ApiResource<'GeneralSettings'>['attributes'];

type GeneralSettingsInput = RequestResource<'updateGeneralSettings'>['attributes'];

const PATH = '/api/v2/admin/general-settings';
const GENERAL_SETTINGS_KEY = ['general-settings'] as const;

export const generalSettingsQuery = queryOptions({
  queryKey: GENERAL_SETTINGS_KEY,
  queryFn: async ({ signal }) => (await readData(api.GET(PATH, { signal }))).attributes,
});

export const useChangeGeneralSettings = () =>
  useChange({
    mutationFn: (attributes: GeneralSettingsInput) =>
      readData(api.PATCH(PATH, { body: { data: { type: 'general-settings', attributes } } })),
    rereads: GENERAL_SETTINGS_KEY,
  });
