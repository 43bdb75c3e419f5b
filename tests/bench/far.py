#!/usr/bin/env python3
"""A port on loopback that is as far from another one as the round trip says.

    tests/bench/far.py PORT ROUND_TRIP_MS

Prints its own port, and carries connections until it is ended.  The bytes of a connection wait half a round trip each
way, and none overtakes another.  There is no limit to what is under way.
"""

import asyncio
import sys

BLOCK_BYTES = 1 << 16


async def carry(reader, writer, delay_s):
    loop = asyncio.get_running_loop()
    under_way = asyncio.Queue()

    async def deliver():
        while (due_and_block := await under_way.get()) is not None:
            due, block = due_and_block
            await asyncio.sleep(due - loop.time())
            writer.write(block)
            await writer.drain()
        writer.close()

    delivery = asyncio.create_task(deliver())
    try:
        while block := await reader.read(BLOCK_BYTES):
            under_way.put_nowait((loop.time() + delay_s, block))
    except OSError:
        pass
    under_way.put_nowait(None)
    await asyncio.gather(delivery, return_exceptions=True)


async def serve(port, delay_s):
    async def connected(reader, writer):
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, far_writer, delay_s), carry(far_reader, writer, delay_s))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 2000))
