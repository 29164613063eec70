import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { backingData, type BackingDataCommand, type BackingDataEvent } from './backing-data.js';

const { given } = specify(backingData);
const data = { workspace: 'ws-1' };

const softDeleted: BackingDataEvent = { type: 'StateVersionDataSoftDeleted', data };
const restored: BackingDataEvent = { type: 'StateVersionDataRestored', data };
const deleted: BackingDataEvent = { type: 'StateVersionDataPermanentlyDeleted', data };

const softDelete = (facts: { isFinalized?: boolean; isNeeded?: boolean } = {}): BackingDataCommand => ({
  type: 'SoftDeleteData',
  data: { ...data, isFinalized: true, isNeeded: false, ...facts },
});
const restore: BackingDataCommand = { type: 'RestoreData', data };
const deletePermanently: BackingDataCommand = { type: 'DeleteDataPermanently', data };

describe('decisions about the data of a state version', () => {
  it('soft-delete it if it is not needed', () => given().when(softDelete()).yields(softDeleted));

  it('refuse to soft-delete it if the version is current or becomes current', () =>
    given()
      .when(softDelete({ isNeeded: true }))
      .refuses('bad-request', /current state version/));

  it('refuse to soft-delete it if it was never uploaded', () =>
    given()
      .when(softDelete({ isFinalized: false }))
      .refuses('bad-request', /finalized/));

  it('soft-delete it only once', () => {
    given(softDeleted)
      .when(softDelete())
      .refuses('bad-request', /deleted already/);
    given(softDeleted, deleted)
      .when(softDelete())
      .refuses('bad-request', /deleted already/);
  });

  it('restore it unless it is permanently deleted', () => {
    given(softDeleted).when(restore).yields(restored);
    given(softDeleted, restored).when(softDelete()).yields(softDeleted);
    given(softDeleted, deleted)
      .when(restore)
      .refuses('bad-request', /permanently/);
  });

  it('yield no event for a restore if it is not deleted', () => {
    given().when(restore).yields();
    given(softDeleted, restored).when(restore).yields();
  });

  it('permanently delete it only once, after a soft deletion', () => {
    given(softDeleted).when(deletePermanently).yields(deleted);
    given()
      .when(deletePermanently)
      .refuses('bad-request', /soft deleted/);
    given(softDeleted, restored)
      .when(deletePermanently)
      .refuses('bad-request', /soft deleted/);
    given(softDeleted, deleted)
      .when(deletePermanently)
      .refuses('bad-request', /soft deleted/);
  });
});
