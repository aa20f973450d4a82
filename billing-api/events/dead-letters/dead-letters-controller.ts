import { Body, Extension, Get, Post, Queries, Route, SuccessResponse, Tags } from '@tsoa/runtime';
import { readDeadLetters } from './read-dead-letters.js';
import { replayDeadLetters, type ReplayDependencies } from './replay-dead-letters.js';
import {
  lettersToDto,
  replaysToDto,
  type DeadLetterListDto,
  type DeadLetterReplayListDto,
  type DeadLettersQuery,
  type ReplayDeadLettersBody,
} from './dead-letter-dto.js';
import { ApiController } from '../../edge/api-controller.js';
import { accepted } from '../../edge/http-failure.js';
import type { WriteDependencies } from '../../records/unit.js';

@Route('v1/events/dead-letters')
@Tags('Events')
export class DeadLettersController extends ApiController<ReplayDependencies & WriteDependencies> {
  /**
   * Records of the log that could not be decoded and name your environment, newest first. Events
   * sent to this API never become one; records of another release or program may.
   * @summary List dead letters
   */
  @Get()
  @Extension('x-operation', { entity: 'event', access: 'read', rate: 'heavy' })
  public async listDeadLetters(@Queries() query: DeadLettersQuery): Promise<DeadLetterListDto> {
    const { environment } = this.occasion;
    return lettersToDto(accepted(await readDeadLetters(this.dependencies, environment, query)));
  }

  /**
   * Decodes each letter as of today and appends its events to the log once more; what can still not
   * be decoded is refused with the reason. Harmless to repeat, since an event_id counts once.
   * @summary Replay dead letters
   */
  @Post('replay')
  @Extension('x-operation', { entity: 'event', access: 'write', rate: 'heavy', notFound: true })
  @SuccessResponse(200, 'What became of each')
  public async replayDeadLetters(
    @Body() body: ReplayDeadLettersBody,
  ): Promise<DeadLetterReplayListDto> {
    return replaysToDto(await this.run(replayDeadLetters, body.ids));
  }
}
