export { startS3, type TestS3 } from './start-s3.js';
