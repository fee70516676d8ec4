;;; hive-outbox-planted-test.el --- The outbox does not trust files from others  -*- lexical-binding: t; -*-

;; Tags: no-authority

(require 'hive-outbox)
(require 'hive-outbox-test-help)
(require 'hive-test-help)

(defun hive-outbox-planted (&rest lines)
  "Write LINES as the file of a dead Emacs, without the key; return it."
  (hive-outbox--directory)
  (let ((file (expand-file-name (format "%s.%d.%d.jsonl" (hive-outbox--host)
                                        (hive-outbox-test-dead-pid) 1700000000)
                                hive-outbox-directory)))
    (write-region (concat (string-join lines "\n") "\n") nil file nil 'quiet)
    file))

(defun hive-outbox-planted-line (ask-id &rest changes)
  "Return the line of an answer to ASK-ID, with CHANGES, without a code."
  (let ((record (hive-outbox-test-record ask-id)))
    (cl-loop for (key value) on changes by #'cddr do (setq record (plist-put record key value)))
    (decode-coding-string (hive-outbox--encode record) 'utf-8)))

(ert-deftest hive-outbox-hmac-is-the-standard-one ()
  ;; RFC 4231, test cases 1 and 2.
  (should (equal "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
                 (hive-outbox--hmac (make-string 20 #x0b) "Hi There")))
  (should (equal "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
                 (hive-outbox--hmac "Jefe" "what do ya want for nothing?"))))

(ert-deftest hive-outbox-a-planted-file-is-shown-and-not-sent ()
  (hive-test-connected
    (let ((id (plist-get (hive-test-call 'fake/ask nil) :ask_id)) (said nil) file)
      (hive-mode -1)
      (setq file (hive-outbox-planted
                  (hive-outbox-planted-line id)
                  (hive-outbox-planted-line "set" :method "desk/preferences" :params '(:sound t))
                  ;; A file cannot declare itself verified.
                  (hive-outbox-planted-line "says" :verified t :mac (make-string 64 ?0))))
      (cl-letf (((symbol-function 'hive-announce) (lambda (&rest args) (push args said))))
        (hive-test-connect))
      (should (assoc "The outbox has %s not signed with your key; M-x hive-outbox-review shows them" said))
      ;; The doctor says what it complains about.
      (should (string-prefix-p "0 unsent, 0 rejected, 3 not signed with your key, in "
                               (hive-doctor-check-text (car (hive-doctor--outbox)))))
      (should (equal (list id "set" "says") (hive-outbox-test-ids 'unverified)))
      (should-not (hive-outbox-entries 'pending))
      (hive-test-call 'fake/ask nil)    ; whatever was sent has arrived before this
      (should-not (hive-test-answers))
      ;; It is kept, even after another start.
      (should-not (file-exists-p file)) ; adopted
      (should (= 1 (length (hive-outbox-test-files))))
      (hive-mode -1)
      (hive-test-connect)
      (should (= 3 (length (hive-outbox-entries 'unverified)))))))

(ert-deftest hive-outbox-does-not-wait-for-a-named-pipe ()
  "Reading a named pipe would wait for its writer."
  (hive-test-with-desk nil
    (let ((file (hive-outbox-planted)) (folder (make-temp-file "hive-pipe-" t)))
      (delete-file file)
      (unwind-protect
          (progn
            (call-process "mkfifo" nil nil nil file)
            (call-process "mkfifo" nil nil nil (expand-file-name ".git" folder))
            (hive-test-connect)
            (should-not (hive-outbox-entries 'unverified))
            (should (hive-place-of folder)))
        (delete-directory folder t)))))

(ert-deftest hive-outbox-an-altered-line-is-not-sent ()
  (hive-outbox-test-offline
    (let ((file (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000
                                       (hive-outbox-test-record "a") (hive-outbox-test-record "b"))))
      (with-temp-file file
        (insert-file-contents file)
        (search-forward "\"decision\":\"yes\"")
        (replace-match "\"decision\":\"no\""))
      (hive-outbox-open)
      (should (equal '("a") (hive-outbox-test-ids 'unverified)))
      (should (equal '("b") (hive-outbox-test-ids 'pending))))))

(ert-deftest hive-outbox-a-planted-receipt-drops-no-answer ()
  (hive-outbox-test-offline
    (let ((file (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000
                                       (hive-outbox-test-record "a"))))
      (write-region "{\"entry\":\"closed\",\"response_id\":\"r-a\"}\n" nil file t 'quiet)
      (write-region "{\"entry\":\"rejected\",\"response_id\":\"r-a\",\"code\":\"x\"}\n" nil file t 'quiet)
      (hive-outbox-open)
      (should (equal '("a") (hive-outbox-test-ids 'pending))))))

(ert-deftest hive-outbox-never-sends-a-method-that-is-no-answer ()
  (hive-outbox-test-offline
    ;; Not even with the key.
    (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000
                           (plist-put (hive-outbox-test-record "a") :method "desk/preferences"))
    (hive-outbox-open)
    (should (equal '("a") (hive-outbox-test-ids 'unverified)))
    (should-error (hive-outbox-add nil "desk/preferences" '(:response_id "r") ""))))

(ert-deftest hive-outbox-without-the-key-nothing-is-sent-or-lost ()
  (dolist (spoil (list (lambda () (delete-file hive-outbox-key-file))
                       (lambda () (set-file-modes hive-outbox-key-file #o644))
                       (lambda () (write-region "short" nil hive-outbox-key-file nil 'quiet))))
    (hive-outbox-test-offline
      (hive-outbox-test-left (hive-outbox-test-dead-pid) 1700000000 (hive-outbox-test-record "a"))
      (funcall spoil)
      (hive-outbox-open)
      (should (equal '("a") (hive-outbox-test-ids 'unverified)))
      ;; A new answer gets a new key.
      (hive-outbox-test-add "b")
      (should (= #o600 (logand #o777 (file-modes hive-outbox-key-file))))
      (hive-outbox-close)
      (hive-outbox-open)
      (should (equal '("b") (hive-outbox-test-ids 'pending)))
      (should (equal '("a") (hive-outbox-test-ids 'unverified))))))

(ert-deftest hive-outbox-the-human-decides-about-what-is-unverified ()
  (hive-outbox-test-offline
    (hive-outbox-planted (hive-outbox-planted-line "send") (hive-outbox-planted-line "delete")
                         (hive-outbox-planted-line "later")
                         (hive-outbox-planted-line "set" :method "desk/preferences"))
    (hive-outbox-open)
    (let ((keys (list ?s ?d ?l ?d)) shown asked)
      (cl-letf (((symbol-function 'read-char-choice)
                 (lambda (question chars)
                   (push question asked)
                   (push (with-current-buffer "*hive outbox*" (buffer-string)) shown)
                   (should (memq (car keys) chars))
                   (pop keys))))
        (hive-outbox-review))
      (should (string-match-p "hivemind-response\n\nask_id: send\ndecision: yes\nby: Ada" (car (last shown))))
      (should (string-match-p "neither an answer nor a message" (car asked))))
    (should (equal '("send") (hive-outbox-test-ids 'pending)))
    (should (equal '("later") (hive-outbox-test-ids 'unverified)))
    ;; The decision is kept.
    (hive-outbox-close)
    (hive-outbox-open)
    (should (equal '("send") (hive-outbox-test-ids 'pending)))
    (should (equal '("later") (hive-outbox-test-ids 'unverified)))))

(ert-deftest hive-outbox-a-confirmed-answer-of-this-emacs-survives-a-crash ()
  (hive-outbox-test-offline
    ;; The key is lost while this Emacs runs, so its own file is unverified.
    (hive-outbox-test-add "a")
    (hive-outbox-test-add "b")
    (hive-outbox-close)
    (delete-file hive-outbox-key-file)
    (hive-outbox-open)
    (should (equal '("a" "b") (hive-outbox-test-ids 'unverified)))
    (let ((keys (list ?s ?l)))
      (cl-letf (((symbol-function 'read-char-choice) (lambda (&rest _) (pop keys))))
        (hive-outbox-review)))
    (should (equal '("a") (hive-outbox-test-ids 'pending)))
    (should (equal '("b") (hive-outbox-test-ids 'unverified)))
    ;; Only what is on disk survives.
    (hive-outbox-close)
    (hive-outbox-open)
    (should (equal '("a") (hive-outbox-test-ids 'pending)))
    (should (equal '("b") (hive-outbox-test-ids 'unverified)))
    ;; Once it is stored, it does not come back.
    (hive-outbox--stored (car (hive-outbox-entries 'pending)) nil)
    (hive-outbox-close)
    (hive-outbox-open)
    (should-not (hive-outbox-entries 'pending))
    (should (equal '("b") (hive-outbox-test-ids 'unverified)))))
