<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
    <context>
        <name>Actions</name>
        <message>
            <source>Add documents</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Answer again</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Chats</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Close the window</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy the last answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Export this chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Find in this chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Go to the newest message</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Help</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keyboard shortcuts</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Larger text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Messages</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Models</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>New chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Normal text size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Quit</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Rename this chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Search chats</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Settings</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show or hide the chats</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show or hide the live panel</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Smaller text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stop</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>View</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Window</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Write a question</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Banner</name>
        <message>
            <source>Dismiss</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>BenchmarkPanel</name>
        <message>
            <source>9,133 tokens, two cuts</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A file…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A model is being loaded. Start when it is ready.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>An answer is being written. A benchmark beside it would measure neither; start when it has ended.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Another benchmark is running.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Benchmark ended</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Benchmark plan</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Benchmark progress</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Benchmark results</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Benchmark running</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cold here means a new session of the loaded model; haloband bench loads it anew before each cold run.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Compare with</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Compare with an earlier run</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copied as Markdown.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy as Markdown</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode speed against tokens in the session</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode, tok/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No model is loaded. Choose one on the Models page first.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Not saved: {reason}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>One prompt of 9,133 tokens and 128 generated, cut as 8,192 + 941 and read in one step; one cold run and two warm ones of each. The table of Luce-Org/lucebox PR #684.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prefill speed against tokens in the session</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prefill, tok/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompts of 512 and 2,048 tokens and an answer of 64; five runs each.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompts of 512 and 2,048 tokens, an answer of 128, and 2,048 tokens at a depth of 8,192; five runs each.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Quick</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Runs</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Save benchmark</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Saved as {name}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Save…</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Standard</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Start</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stop</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stopped before the end; the rows above are good.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Sweep over depth</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Test</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The machine was not quiet: {reasons}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The run was not kept: {reason}. It can still be saved.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>These two runs have no test in common.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Waiting for the engine</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Walks one long text in steps of 2,048 tokens, timing only the newest ones, with 64 tokens of answer at each depth.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Wall, s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>answering</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>filling the session</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>one run</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>outside noise</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>peak GPU memory {size}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>peak memory {size}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>reading</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>tok/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>warm-up</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>within noise</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{label}, run {run} of {runs}, {phase}, row {row} of {rows}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{label}: {time} for the prompt and {tokens}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{ratio} of the earlier run, outside the noise</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{ratio} of the earlier run, within the noise</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{ratio} of the earlier run; a single run does not tell the noise</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{size} of masks never allocated</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{text}, {time} left</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ChatDelegate</name>
        <message>
            <source>Title of the chat</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ChatPage</name>
        <message>
            <source>Add documents</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Document</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ChatSettings</name>
        <message>
            <source> tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Fills the fields below</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Longest answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Min p</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>None</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Own value: {name}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Preset</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Seed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Settings of this chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>System prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Temperature</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The same seed gives the same answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Think first</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Tick what this chat sets for itself; the rest follows Settings.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Top k</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Top p</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Composer</name>
        <message>
            <source>Add documents</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Already read (from cache)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ask again</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ask in a new chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ask something, or paste or drop a document</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Chat so far</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Context</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Context size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Document {name}, {details}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Documents</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Editing an earlier question. The old one stays reachable.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Insert as text</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keep only {tokens} tokens for the answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Kept for the answer</source>
            <translation type="unfinished" />
        </message>
        <message numerus="yes">
            <source>Leave out the oldest %Ln turn(s)</source>
            <translation type="unfinished">
                <numerusform />
                <numerusform />
            </translation>
        </message>
        <message>
            <source>Look inside</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Question</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Remove</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Remove the documents</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Send</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stop</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stop (Esc)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This question</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Too long to edit here; it is sent whole</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Use a context of {tokens} tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>not sent</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{over} tokens too many</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{used} of {context} tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>– tokens</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Document</name>
        <message>
            <source>The first {first} of {count} characters; all of them are sent</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{count} characters</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>EmptyState</name>
        <message>
            <source>Explain how rain forms, in three steps.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No model is loaded. Choose one under Models.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open a document and ask about it</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model is being loaded. You can write already.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What would you like to know?</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Write a short poem about the sea.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{name} answers on this computer. It reads up to {context}.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{problem} Choose another model under Models.</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Exchange</name>
        <message>
            <source>Chats (*.json)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Export chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Import chats</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>JSON (*.json)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Markdown (*.md)</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Find</name>
        <message>
            <source>Close</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Find in this chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Next match</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No match</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Previous match</source>
            <translation type="unfinished" />
        </message>
        <message numerus="yes">
            <source>in %Ln message(s)</source>
            <translation type="unfinished">
                <numerusform />
                <numerusform />
            </translation>
        </message>
    </context>
    <context>
        <name>Formats</name>
        <message numerus="yes">
            <source>%Ln token(s)</source>
            <translation type="unfinished">
                <numerusform />
                <numerusform />
            </translation>
        </message>
        <message>
            <source>{hours} h {minutes} min</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{minutes} min {seconds} s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{percent} %</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{seconds} s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{speed} tok/s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>– tokens</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>GenerationState</name>
        <message>
            <source>Answering</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Failed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Finished</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loading the model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading the prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ready</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stopping</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Waiting for another answer</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Header</name>
        <message>
            <source>Back to the chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>New chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Settings of this chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show or hide the chats</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show or hide the live panel</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Help</name>
        <message>
            <source>Ask about a document</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Help</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>If something goes wrong</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>In {folder}. They never leave this computer.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open the log folder</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Paste a long text, drop a file on the question field, or use the paper clip. The whole text reaches the model; what does not fit is said before anything is sent.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The log is {file}. It holds no chat text, and nothing is sent by itself.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The panel at the right shows how fast the prompt is read and the answer written, and what every layer keeps in memory. The Benchmark tab measures it.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Watch the engine</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Where your chats are</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>LivePanel</name>
        <message numerus="yes">
            <source>%Ln band(s)</source>
            <translation type="unfinished">
                <numerusform />
                <numerusform />
            </translation>
        </message>
        <message>
            <source>1 in {ratio}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>All</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Answering</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ask something, and its speeds and memory appear here.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>At</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Benchmark finished</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Benchmark running</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Decode speed over time</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Failed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Held</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keeps</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Last answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Layer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Layer {layer}, {kind}: held {held}, plain attention {plain}, mask never allocated {mask}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Mask</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Memory available</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Memory of each layer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Memory of each layer, as bars</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Memory per layer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Memory per layer appears with the first prompt.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing is running</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Plain</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prefill</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prefill speed over time</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompt read</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompt time left</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading the prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reused from cache</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show tables instead of charts</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Speeds over time</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Starting</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Stopped</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This computer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>This program</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Time to first token</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>held now</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>masks never allocated</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>not measured yet</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>plain attention would hold</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>step {step} of {steps}, {tokens} in {bands}, layer {layer} of {layers}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>whole run</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>whole run {speed}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>window</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{free} of {total}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{saved} saved at {tokens}: F16 keys and values of every head for these tokens, minus what is held, plus the F32 masks of the largest step, which are never allocated.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{seconds} s</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{used} of {total}</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>MainWindow</name>
        <message>
            <source>Models</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Settings</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Messages</name>
        <message>
            <source>Reading the prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Reading the prompt · starting</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The answer could not be finished. What had arrived was kept.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The context is full. Start a new chat, or use a larger context in Settings.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The program ended while this was being written. What had arrived was kept.</source>
            <translation type="unfinished" />
        </message>
        <message numerus="yes">
            <source>Waiting for %Ln other job(s)</source>
            <translation type="unfinished">
                <numerusform />
                <numerusform />
            </translation>
        </message>
        <message>
            <source>context full</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>finished</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>first token after {time}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>length limit reached</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>stopped</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>ModelsPage</name>
        <message>
            <source>Add a model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Add file …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Cancel</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Comes with Haloband</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Does not fit: needs {needed}, {free} are free. Close other programs or choose a smaller context in Settings.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Fits: needs {needed}, {free} are free</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>In use</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Load</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Model read</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Models (*.gguf)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pick the model that answers. The one in use stays until the next one is ready.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Remove from the library (the file stays)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Watch a folder for models</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Watch folder …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>context up to {tokens}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{count} parameters</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>SettingsPage</name>
        <message>
            <source> characters</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source> tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>0 always takes the likeliest word</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>1 is the system's own size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>A paste is long from</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Answers</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Appearance</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>At most this many words; 0 takes all</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Attention</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Banded and sparse (fast)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Chats kept in memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Context size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Ctrl+Enter</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Dark</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Dense</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Engine</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Enter</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Exact (for comparison)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Follow the system</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>For chats that set nothing of their own</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>General</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Going back to one of them reads nothing again</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Holds from the next answer on</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Holds from the next start on</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keep the computer awake while answering</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keep thinking open</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Language</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Larger contexts take more memory</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Less motion</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Light</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Load the last model at start</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Long pastes become documents</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Longest answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Min p</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing turns or pulses while the model works</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Notify when a long answer ends</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Only while the window is not in front</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Open the last chat at start</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Send with</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shown as a chip with size and token count; the whole text is sent either way</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>System prompt</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Temperature</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Text size</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model writes its thoughts before the answer</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Theme</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Think first</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Thoughts stay unfolded after they end</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Top k</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Top p</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>What every chat is told first; may be empty</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Words at least this likely, relative to the best</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Words that together reach this share</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Writing</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Shortcuts</name>
        <message>
            <source>Edit the last question (empty field)</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Enter</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>In the question field</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Keyboard shortcuts</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>New line</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Send</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Shift+Enter</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Up</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>SidePanel</name>
        <message>
            <source>Benchmark</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Live</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Panel</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Sidebar</name>
        <message>
            <source>Chats</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Delete</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Export …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Import chats …</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Models</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>New chat</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No chats yet. Write a question to start the first one.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Nothing found. Try fewer or other words.</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Pin</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Rename</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Search chats</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Settings</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Unpin</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>pinned</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>StatusLine</name>
        <message>
            <source>Cancel</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Choose a model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Context {used} / {size}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Loading {name}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Memory {size}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Model read</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Model: {model}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>No model</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Status</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>The model could not be loaded</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>the embedded model</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Toast</name>
        <message>
            <source>Undo</source>
            <translation type="unfinished" />
        </message>
    </context>
    <context>
        <name>Transcript</name>
        <message>
            <source>Answer again</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Answer {position} of {total}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Closed</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Code</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Code in {language}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Continue in a new chat from here</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Conversation</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy code</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy link address</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Copy message</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Delete from here on</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Edit and ask again</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Go to the newest message</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Image: {description}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Newest</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Next version</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Opened</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Previous version</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Prompt read</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Question {position} of {total}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Scroll the code sideways</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Select all</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show all {count} characters</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show document {name}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Show less</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Starting</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Thinking · {tokens}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Thought for {time} · {tokens}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Thoughts · {tokens}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Try again</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>Version {version} of {versions}</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{done} / {total} tokens</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{time} left</source>
            <translation type="unfinished" />
        </message>
        <message>
            <source>{tokens} from cache</source>
            <translation type="unfinished" />
        </message>
    </context>
</TS>
