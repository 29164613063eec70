import { describe, it } from '@jest/globals';
import { specify } from '#kernel/spec';
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

describe('the data of a state version', () => {
  it('is soft deleted where nobody needs it', () => given().when(softDelete()).yields(softDeleted));

  it('stays where the version is current or about to be', () =>
    given()
      .when(softDelete({ isNeeded: true }))
      .refuses('bad-request', /current state version/));

  it('must be here to be deleted', () =>
    given()
      .when(softDelete({ isFinalized: false }))
      .refuses('bad-request', /finalized/));

  it('is deleted once', () => {
    given(softDeleted)
      .when(softDelete())
      .refuses('bad-request', /deleted already/);
    given(softDeleted, deleted)
      .when(softDelete())
      .refuses('bad-request', /deleted already/);
  });

  it('comes back as long as it is not deleted for good', () => {
    given(softDeleted).when(restore).yields(restored);
    given(softDeleted, restored).when(softDelete()).yields(softDeleted);
    given(softDeleted, deleted)
      .when(restore)
      .refuses('bad-request', /permanently/);
  });

  it('is back already where it never went', () => {
    given().when(restore).yields();
    given(softDeleted, restored).when(restore).yields();
  });

  it('is deleted for good after it was soft deleted, and once', () => {
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
