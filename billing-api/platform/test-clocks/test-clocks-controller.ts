import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import {
  testClockToDto,
  type AdvanceTestClockBody,
  type CreateTestClockBody,
  type TestClockDto,
  type TestClockListDto,
} from '../../declarations/platform/test-clock.js';
import type { MessageDto } from '../../records/record-dto.js';
import type { WriteDependencies } from '../../records/unit.js';
import {
  advanceTestClock,
  createTestClock,
  listTestClocks,
  readTestClock,
  removeTestClock,
  type ToldClock,
} from './test-clock-operations.js';

const toDto = ({ row, happened }: ToldClock): TestClockDto => testClockToDto(row, happened);

@Route('v1/test_clocks')
@Tags('Test clocks')
export class TestClocksController extends ApiController<WriteDependencies> {
  /**
   * A development environment has at most one. While it exists, everything in the environment
   * happens by it, and nothing falls due before it is advanced.
   * @summary Create a test clock
   */
  @Post()
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', { entity: 'test_clock', access: 'write' })
  public async createTestClock(@Body() body: CreateTestClockBody): Promise<TestClockDto> {
    return toDto(await this.run(createTestClock, body));
  }

  /**
   * The clock of the environment with what its last advance has done; none where time is that of
   * the machine.
   * @summary List test clocks
   */
  @Get()
  @Extension('x-operation', { entity: 'test_clock', access: 'read' })
  public async listTestClocks(): Promise<TestClockListDto> {
    const clocks = await this.run(listTestClocks);
    return { items: clocks.map(toDto) };
  }

  /**
   * With what its last advance has done, in order.
   * @summary Read a test clock
   */
  @Get('{id}')
  @Extension('x-operation', { entity: 'test_clock', access: 'read' })
  public async readTestClock(@Path() id: string): Promise<TestClockDto> {
    return toDto(await this.run(readTestClock, id));
  }

  /**
   * The environment goes by the time of the machine again; what has happened stays.
   * @summary Remove a test clock
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'test_clock', access: 'write' })
  public async removeTestClock(@Path() id: string): Promise<MessageDto> {
    await this.run(removeTestClock, id);
    return { message: `test clock ${id} is removed` };
  }

  /**
   * Everything that falls due until then happens at its own instant, in order, however far the
   * clock is advanced at once. Poll the clock until it is ready.
   * @summary Advance a test clock
   */
  @Post('{id}/advance')
  @SuccessResponse(202, 'Accepted')
  @Extension('x-operation', { entity: 'test_clock', access: 'write', rate: 'heavy' })
  public async advanceTestClock(
    @Path() id: string,
    @Body() body: AdvanceTestClockBody,
  ): Promise<TestClockDto> {
    return toDto(await this.run(advanceTestClock, { id, body }));
  }
}
