import type { Resource } from '#api/json-api';
import type { ReservedTagKeyRow } from './reserved-tag-keys.view.js';

export const renderReservedTagKey = ({
  id,
  key,
  disableOverrides,
  createdAt,
  updatedAt,
}: ReservedTagKeyRow): Resource => ({
  id,
  type: 'reserved-tag-keys',
  attributes: {
    key,
    'disable-overrides': disableOverrides,
    'created-at': createdAt,
    'updated-at': updatedAt,
    // go-tfe decodes the times only under these names (struct tags of ReservedTagKeyState in 1.110); without them they
    // would be zero.
    created_at: createdAt,
    updated_at: updatedAt,
  },
});
