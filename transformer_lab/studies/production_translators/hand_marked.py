"""Sentences with grammar marked by hand: 30 of our own, and 22 from Debian's descriptions.

The study `heads` scores the heads on them.
"""

from transformer_lab.data.world.relations import RELATIONS
from transformer_lab.evaluation.alignments import split_words
from transformer_lab.studies.production_translators.texts import MarkedSentence

# The last 22 are from Debian's package descriptions. Each line has a sentence, then determiners,
# adjectives, subjects and objects as "dependent>head". A word's second occurrence is marked by a 2.
SENTENCES = """
The model reads a long sentence. | The>model a>sentence | long>sentence | model>reads | sentence>reads
Every head has its own matrix. | Every>head its>matrix | own>matrix | head>has | matrix>has
The decoder never sees the later words. | The>decoder the>words | later>words | decoder>sees | words>sees
A small table stores all results. | A>table all>results | small>table | table>stores | results>stores
This function returns the first empty line. | This>function the>line | first>line empty>line | function>returns | line>returns
Some readers skip the hard exercises. | Some>readers the>exercises | hard>exercises | readers>skip | exercises>skip
Our tests compare two different paths. | Our>tests | different>paths | tests>compare | paths>compare
The second layer of the encoder copies the2 previous word. | The>layer the>encoder the2>word | second>layer previous>word | layer>copies | word>copies
A learner in a hurry opens the last notebook. | A>learner a>hurry the>notebook | last>notebook | learner>opens | notebook>opens
The old program on my machine prints strange numbers. | The>program my>machine | old>program strange>numbers | program>prints | numbers>prints
Nobody has translated this short text. | this>text | short>text | Nobody>translated | text>translated
The students who finished early helped their neighbours. | The>students their>neighbours | | students>helped | neighbours>helped
We measured the same speed on an old laptop. | the>speed an>laptop | same>speed old>laptop | We>measured | speed>measured
The loss of a large model falls at a2 slow rate. | The>loss a>model a2>rate | large>model slow>rate | loss>falls |
These packages provide a graphical interface. | These>packages a>interface | graphical>interface | packages>provide | interface>provide
The server keeps a complete copy of each file. | The>server a>copy each>file | complete>copy | server>keeps | copy>keeps
A wrong mask hides the important words. | A>mask the>words | wrong>mask important>words | mask>hides | words>hides
The author of the famous paper changed one sentence. | The>author the>paper | famous>paper | author>changed | sentence>changed
Most users never read the long manual. | Most>users the>manual | long>manual | users>read | manual>read
A careful engineer checks every single number. | A>engineer every>number | careful>engineer single>number | engineer>checks | number>checks
The new version removes several old options. | The>version several>options | new>version old>options | version>removes | options>removes
My sister bought an expensive camera last week. | My>sister an>camera | expensive>camera last>week | sister>bought | camera>bought
The committee will discuss the final report tomorrow. | The>committee the>report | final>report | committee>discuss | report>discuss
Two children found a strange key near the lake. | a>key the>lake | strange>key | children>found | key>found
The library contains many useful tools. | The>library many>tools | useful>tools | library>contains | tools>contains
Her letter described the quiet village. | Her>letter the>village | quiet>village | letter>described | village>described
The company has sold its largest factory. | The>company its>factory | largest>factory | company>sold | factory>sold
A bird on the roof was watching the2 hungry cat. | A>bird the>roof the2>cat | hungry>cat | bird>watching | cat>watching
The teacher gave the young pupils a difficult question. | The>teacher the>pupils a>question | young>pupils difficult>question | teacher>gave | question>gave
Their answer surprised the whole class. | Their>answer the>class | whole>class | answer>surprised | class>surprised
This package includes tools for simple manipulations of FITS files. | This>package | simple>manipulations | package>includes | tools>includes
It integrates the various tools required for processing LaTeX documents. | the>tools | various>tools | It>integrates | tools>integrates documents>processing
The system can handle real, complex and interval numbers, vectors and matrices. | The>system | real>numbers complex>numbers | system>handle | numbers>handle
This package provides all the security scripts and data files for Linux. | This>package the>scripts | | package>provides | scripts>provides
It will use the currently active Debian theme. | the>theme | active>theme | It>use | theme>use
The user can also specify the system load sampling period. | The>user the>period | | user>specify | period>specify
This package provides additional shapes for Dia. | This>package | additional>shapes | package>provides | shapes>provides
It can push backups to remote repositories accessed via ssh. | | remote>repositories | It>push | backups>push
You are a spacepilot controlling your secret prototype ship. | a>spacepilot your>ship | secret>ship | | ship>controlling
This package contains the common files which libavifile needed. | This>package the>files | common>files | package>contains libavifile>needed | files>contains
This package installs the userspace support required by the2 cachefiles backend. | This>package the>support the2>backend | | package>installs | support>installs
This package contains the dumb and Curses versions of Frotz. | This>package the>versions | dumb>versions | package>contains | versions>contains
This metapackage will install small tools provided by Debian Astronomy packages. | This>metapackage | small>tools | metapackage>install | tools>install
These tools handle smaller tasks, mainly dealing with FITS files. | These>tools | smaller>tasks | tools>handle | tasks>handle
This package contains the main executables and base system files. | This>package the>executables | main>executables | package>contains | executables>contains
Developers can integrate it into their build process. | their>process | | Developers>integrate | it>integrate
This package contains shared libraries for astronomy support in marble. | This>package | shared>libraries | package>contains | libraries>contains
This package contains reference data for ViSP tests and examples. | This>package | | package>contains | data>contains
Check the CDS web service for additional catalogs if needed. | the>service | additional>catalogs | | service>Check
Clojure is a dynamic programming language that targets the Java Virtual Machine. | a>language the>Machine | dynamic>language | that>targets | Machine>targets
This package contains the runtime libraries for programs using the2 utop library. | This>package the>libraries the2>library | | package>contains | libraries>contains library>using
Optionally, it also supports authenticated encryption. | | authenticated>encryption | it>supports | encryption>supports
"""  # noqa: E501


def parse_line(line: str) -> MarkedSentence:
    """Parse one line into a sentence with its links."""
    sentence, *columns = (part.strip() for part in line.split("|"))
    names = split_words(sentence)
    words = tuple(name.rstrip("2") for name in names)
    links = {
        relation: tuple(
            (names.index(dependent), names.index(head))
            for dependent, _, head in (pair.partition(">") for pair in column.split())
        )
        for relation, column in zip(RELATIONS, columns, strict=True)
    }
    return MarkedSentence(sentence.replace("2", ""), words, links)


HAND_MARKED = [parse_line(line) for line in SENTENCES.strip().splitlines()]
