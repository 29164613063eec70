export const deleteOlders = (days: unknown): object => ({
  data: { type: 'data-retention-policy-delete-olders', attributes: { 'delete-older-than-n-days': days } },
});

export const dontDeletes: object = { data: { type: 'data-retention-policy-dont-deletes' } };
