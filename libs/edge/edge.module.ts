import { Module } from '@nestjs/common';
import { DiscoveryController } from './discovery.controller.js';
import { HealthController } from './health.controller.js';
import { PingController } from './ping.controller.js';

@Module({ controllers: [DiscoveryController, HealthController, PingController] })
export class EdgeModule {}
